// The second factor: a code of the authenticator app, or one of the backup codes.
import { Anchor, Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { verifyBackupCode, verifyCode } from "../../api/auth.ts";
import { Form } from "../../components/form.tsx";
import { secondFactorTexts } from "../../components/texts.ts";
import { signInTexts as words } from "./texts.ts";

const FACTORS = {
  app: {
    label: secondFactorTexts.code,
    help: null,
    whole: /^\d{6}$/,
    input: { inputMode: "numeric", autoComplete: "one-time-code" },
    verify: verifyCode,
    other: { kind: "backup", label: words.useBackup },
  },
  backup: {
    label: words.backupCode,
    help: words.backupHelp,
    whole: /^[A-Za-z0-9]{5}-[A-Za-z0-9]{5}$/,
    input: { autoCapitalize: "none", autoComplete: "off", spellCheck: false },
    verify: verifyBackupCode,
    other: { kind: "app", label: words.useApp },
  },
} as const;

export function SecondFactor({ done, startAgain }: { done: () => void; startAgain: () => void }) {
  const [kind, setKind] = useState<keyof typeof FACTORS>("app");
  const [typed, setTyped] = useState("");
  const { label, help, whole, input, verify, other } = FACTORS[kind];
  const code = typed.replaceAll(/\s/g, "");
  const check = useMutation({ mutationFn: () => verify(code), onSuccess: done });
  const change = (): void => {
    check.reset();
    setTyped("");
    setKind(other.kind);
  };
  return (
    <Form
      onSubmit={() => check.mutate()}
      error={check.error}
      actions={
        <>
          <Button type="submit" loading={check.isPending} disabled={!whole.test(code)} fullWidth>
            {secondFactorTexts.verify}
          </Button>
          <Group justify="space-between" gap="xs">
            <Anchor component="button" type="button" size="sm" onClick={change}>
              {other.label}
            </Anchor>
            <Anchor component="button" type="button" size="sm" onClick={startAgain}>
              {words.startAgain}
            </Anchor>
          </Group>
        </>
      }
    >
      <TextInput
        key={kind}
        label={label}
        description={help}
        {...input}
        autoFocus
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </Form>
  );
}
