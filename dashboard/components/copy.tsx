// Copies a text and says so, to the eye and to a screen reader.
import { Button, Code, Group } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { copyTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";

export function CopyButton({ text, label = copyTexts.copy }: { text: string; label?: string }) {
  const { copy, copied } = useClipboard({ timeout: 2000 });
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<Icon name={copied ? "check" : "copy"} size={14} />}
      onClick={() => copy(text)}
      aria-live="polite"
      style={{ flex: "none" }}
    >
      {copied ? copyTexts.copied : label}
    </Button>
  );
}

/** An id or a code with its copy button. */
export const Copyable = ({ text, label }: { text: string; label?: string }) => (
  <Group gap="xs" align="center">
    <Code className="name">{text}</Code>
    <CopyButton text={text} {...(label !== undefined && { label })} />
  </Group>
);
