// Shows a link with a token, once: an invitation or a reset. The link is kept only in the state of the page that made
// it and in this dialog.
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { linkTexts, secretTexts } from "./texts.ts";
import { Copyable } from "./copy.tsx";
import type { Answer } from "../api/routes.ts";
import { AskBeforeLeaving, ShownOnce } from "./shown-once.tsx";

export interface ShownLink {
  title: string;
  /** Null if the same form has already shown it. */
  link: string | null;
  expiresAt: string;
  /** The state of its email; missing or null if the gateway sends none. */
  mail?: Answer<"POST /orgs/{org}/invitations">["mail"];
}

interface LinkDialogProps {
  shown: ShownLink | null;
  onClose: () => void;
  /** What to do with the link if no email was sent. */
  children: ReactNode;
}

export const LinkDialog = ({ shown, onClose, children }: LinkDialogProps) => (
  <ShownOnce
    opened={shown !== null}
    onClose={onClose}
    title={shown?.title}
    size="lg"
    lead={shown !== null && (shown.link === null ? linkTexts.shownBefore : linkTexts.once(shown.expiresAt))}
  >
    {shown !== null && (
      <>
        {shown.mail?.state === "not_sent" && <Text size="sm">{linkTexts.notMailed(shown.mail.reason)}</Text>}
        {shown.link !== null && (
          <>
            <Text size="sm">{shown.mail?.state === "sent" ? linkTexts.mailed : children}</Text>
            <Copyable text={shown.link} />
            {shown.mail?.state !== "sent" && <AskBeforeLeaving />}
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>{secretTexts.done}</Button>
        </Group>
      </>
    )}
  </ShownOnce>
);
