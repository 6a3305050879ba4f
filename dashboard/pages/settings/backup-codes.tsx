// Codes in case the phone is lost: shown once, to be copied or downloaded.
import { Button, Checkbox, Code, Group, Stack, Text } from "@mantine/core";
import { CopyButton } from "../../components/copy.tsx";
import { download } from "../../components/secret-dialog.tsx";
import { settingsTexts as words } from "./texts.ts";

interface BackupCodesProps {
  codes: readonly string[];
  stored: boolean;
  onStored: (stored: boolean) => void;
}

export function BackupCodes({ codes, stored, onStored }: BackupCodesProps) {
  const lines = codes.join("\n");
  return (
    <Stack gap="xs">
      <Text size="sm">{words.backupCodes}</Text>
      <Code block tabIndex={0} aria-label={words.backupCodesLabel} role="group">
        {lines}
      </Code>
      <Group gap="xs">
        <CopyButton text={lines} label={words.copyCodes} />
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => download(`${lines}\n`, { name: "tollgate-backup-codes.txt", type: "text/plain" })}
        >
          {words.downloadCodes}
        </Button>
      </Group>
      <Checkbox
        label={words.stored}
        checked={stored}
        onChange={(event) => onStored(event.currentTarget.checked)}
      />
    </Stack>
  );
}
