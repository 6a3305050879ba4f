// The one time a key is shown. It lives in the state of the page that made it and in this dialog, nowhere else: not in
// the query cache, the address, the storage or a log. Escape and a click outside do nothing.
import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { texts } from "../texts.ts";
import { Copyable } from "./copy.tsx";
import { Icon } from "./icon.tsx";
import { Snippets } from "./snippets.tsx";

export interface Secret {
  name: string;
  secret: string;
}

interface SecretDialogProps {
  shown: Secret | null;
  baseUrl: string;
  model: string;
  onClose: () => void;
}

export function SecretDialog({ shown, baseUrl, model, onClose }: SecretDialogProps) {
  const [stored, setStored] = useState(false);
  const close = (): void => {
    setStored(false);
    onClose();
  };
  return (
    <Modal
      opened={shown !== null}
      onClose={close}
      title={texts.secret.title}
      size="xl"
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      {shown !== null && (
        <Stack gap="md">
          <Alert
            color="yellow"
            variant="light"
            icon={<Icon name="warning" />}
            styles={{ icon: { color: "var(--tone-warning)" } }}
          >
            {texts.secret.once}
          </Alert>
          <Text fw={600} className="name">
            {shown.name}
          </Text>
          <Copyable text={shown.secret} />
          <Text size="sm" fw={600}>
            {texts.secret.use}
          </Text>
          <Snippets baseUrl={baseUrl} secret={shown.secret} model={model} />
          <Group justify="space-between">
            <Checkbox
              label={texts.secret.stored}
              checked={stored}
              onChange={(event) => setStored(event.currentTarget.checked)}
            />
            <Group gap="xs">
              <Button variant="default" onClick={() => downloadEnv(shown, baseUrl)}>
                {texts.secret.env}
              </Button>
              <Button disabled={!stored} onClick={close}>
                {texts.secret.done}
              </Button>
            </Group>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function downloadEnv({ secret }: Secret, baseUrl: string): void {
  download(`OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=${secret}\n`, {
    name: "tollgate.env",
    type: "text/plain",
  });
}

/** Hands a text to the browser as a file. */
export function download(text: string, file: { name: string; type: string }): void {
  const url = URL.createObjectURL(new Blob([text], { type: file.type }));
  const anchor = Object.assign(document.createElement("a"), { href: url, download: file.name });
  anchor.click();
  URL.revokeObjectURL(url);
}
