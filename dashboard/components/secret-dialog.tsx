// Shows a secret, once: an API key, a management key, a signing secret. The secret is kept only in the state of the
// page that made it and in this dialog: not in the query cache, the address, storage or a log. The dialog closes when
// the person confirms that it is stored.
import { Button, Checkbox, Group, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { secretTexts } from "./texts.ts";
import { Copyable } from "./copy.tsx";
import { AskBeforeLeaving, ShownOnce } from "./shown-once.tsx";
import { Snippets } from "./snippets.tsx";

export interface Secret {
  name: string;
  secret: string;
}

interface OnceDialogProps {
  shown: Secret | null;
  title: string;
  /** Why it is shown only now. */
  lead: string;
  /** The content of the file to download. */
  env: (secret: string) => string;
  onClose: () => void;
  children?: ReactNode;
}

const ENV_FILE = { name: "tollgate.env", type: "text/plain" };

export function OnceDialog({ shown, title, lead, env, onClose, children }: OnceDialogProps) {
  const [stored, setStored] = useState(false);
  const close = (): void => {
    setStored(false);
    onClose();
  };
  return (
    <ShownOnce opened={shown !== null} onClose={close} title={title} size="xl" lead={lead}>
      {shown !== null && (
        <>
          <Text fw={600} className="name">
            {shown.name}
          </Text>
          <Copyable text={shown.secret} />
          {!stored && <AskBeforeLeaving />}
          {children}
          <Group justify="space-between">
            <Checkbox
              label={secretTexts.stored}
              checked={stored}
              onChange={(event) => setStored(event.currentTarget.checked)}
            />
            <Group gap="xs">
              <Button variant="default" onClick={() => download(env(shown.secret), ENV_FILE)}>
                {secretTexts.env}
              </Button>
              <Button disabled={!stored} onClick={close}>
                {secretTexts.done}
              </Button>
            </Group>
          </Group>
        </>
      )}
    </ShownOnce>
  );
}

interface SecretDialogProps {
  shown: Secret | null;
  baseUrl: string;
  model: string;
  onClose: () => void;
}

/** A new API key, with instructions for using it. */
export const SecretDialog = ({ shown, baseUrl, model, onClose }: SecretDialogProps) => (
  <OnceDialog
    shown={shown}
    title={secretTexts.title}
    lead={secretTexts.once}
    env={(secret) => `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${secret}\n`}
    onClose={onClose}
  >
    <Text size="sm" fw={600}>
      {secretTexts.use}
    </Text>
    {shown !== null && <Snippets baseUrl={baseUrl} secret={shown.secret} model={model} />}
  </OnceDialog>
);

/** Downloads a text as a file. */
export function download(text: string, file: { name: string; type: string }): void {
  const url = URL.createObjectURL(new Blob([text], { type: file.type }));
  const anchor = Object.assign(document.createElement("a"), { href: url, download: file.name });
  anchor.click();
  URL.revokeObjectURL(url);
}
