// Copies a text and announces it visibly and to screen readers. If the browser forbids copying, as over plain http,
// the text is shown selected.
import { Button, Code, Group, Stack, Text, Textarea } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { copyTexts } from "./texts.ts";
import { Icon } from "./icon.tsx";

export function CopyButton({ text, label = copyTexts.copy }: { text: string; label?: string }) {
  const { copy, copied, error } = useClipboard({ timeout: 2000 });
  return error === null ? (
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
  ) : (
    <ByHand text={text} />
  );
}

function ByHand({ text }: { text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <Stack gap={4} w="100%">
      <Text size="sm" role="alert">
        {copyTexts.byHand}
      </Text>
      <Textarea
        ref={field}
        readOnly
        autosize
        maxRows={6}
        ff="monospace"
        aria-label={copyTexts.text}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
    </Stack>
  );
}

/** An id or a code with its copy button. */
export const Copyable = ({ text, label }: { text: string; label?: string }) => (
  <Group gap="xs" align="center">
    <Code className="name">{text}</Code>
    <CopyButton text={text} {...(label !== undefined && { label })} />
  </Group>
);
