// Setting up the second factor: scan, keep the backup codes, type the code from the app.
import { Anchor, Button, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { type NewSecondFactor, useFinishSecondFactor } from "../../api/auth.ts";
import { Copyable } from "../../components/copy.tsx";
import { Form } from "../../components/form.tsx";
import { dialogTexts, secondFactorTexts } from "../../components/texts.ts";
import { settingsTexts as words } from "./texts.ts";
import { BackupCodes } from "./backup-codes.tsx";

const QrCode = lazy(async () => ({ default: (await import("./qr-code.tsx")).QrCode }));

export function Enrol({ made, onClose }: { made: NewSecondFactor; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [stored, setStored] = useState(false);
  const finish = useFinishSecondFactor(onClose);
  const code = typed.replaceAll(/\s/g, "");
  return (
    <Form
      onSubmit={() => finish.mutate(code)}
      error={finish.error}
      actions={
        <Group gap="xs">
          <Button type="submit" loading={finish.isPending} disabled={!stored || !/^\d{6}$/.test(code)}>
            {secondFactorTexts.verify}
          </Button>
          <Button variant="default" onClick={onClose}>
            {dialogTexts.cancel}
          </Button>
        </Group>
      }
    >
      <Text size="sm">{words.scan}</Text>
      <Group gap="md" align="flex-start">
        <Suspense fallback={<Skeleton width={216} height={216} />}>
          <QrCode text={made.totpURI} label={words.qr} />
        </Suspense>
        <Stack gap="xs" miw={0}>
          <Text size="sm">{words.secret}</Text>
          <Copyable text={secretOf(made.totpURI)} label={words.copySecret} />
          <Anchor size="sm" href={made.totpURI}>
            {words.openApp}
          </Anchor>
        </Stack>
      </Group>
      <BackupCodes codes={made.backupCodes} stored={stored} onStored={setStored} />
      <TextInput
        label={secondFactorTexts.code}
        inputMode="numeric"
        autoComplete="one-time-code"
        maw={320}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </Form>
  );
}

const secretOf = (totpUri: string): string => new URL(totpUri).searchParams.get("secret") ?? "";
