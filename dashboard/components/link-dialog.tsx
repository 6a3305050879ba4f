// The one time a link with a token is shown: an invitation or a reset. It lives in the state of the page that made it
// and here, nowhere else.
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { linkTexts, secretTexts } from "./texts.ts";
import { Copyable } from "./copy.tsx";
import type { Answer } from "../api/routes.ts";
import { AskBeforeLeaving, ShownOnce } from "./shown-once.tsx";

export interface ShownLink {
  title: string;
  /** Null when the same form had shown it before. */
  link: string | null;
  expiresAt: string;
  /** What came of its mail; absent or null where the gateway sends none. */
  mail?: Answer<"POST /orgs/{org}/invitations">["mail"];
}

interface LinkDialogProps {
  shown: ShownLink | null;
  onClose: () => void;
  /** What to do with it, where no mail was sent. */
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
