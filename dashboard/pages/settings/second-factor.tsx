// The second factor: a code from an authenticator app, and codes for the day the phone is lost.
import { Button, Code, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  type SecondFactor,
  useBeginSecondFactor,
  useEndSecondFactor,
  useFinishSecondFactor,
} from "../../api/settings.ts";
import { Copyable } from "../../components/copy.tsx";
import { Failure } from "../../components/states.tsx";
import { texts } from "../../texts.ts";

const words = texts.settings;

export function SecondFactorCard({ on }: { on: boolean }) {
  const [password, setPassword] = useState("");
  const [made, setMade] = useState<SecondFactor | null>(null);
  const begin = useBeginSecondFactor(setMade);
  const end = useEndSecondFactor();
  if (made !== null) return <Enrol made={made} onDone={() => setMade(null)} />;
  const error = begin.error ?? end.error;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (on) end.mutate(password);
    else begin.mutate(password);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={420}>
        <Text size="sm">{on ? words.twoFactorOn : words.twoFactorOff}</Text>
        {error !== null && <Failure error={error} />}
        <PasswordInput
          label={words.passwordForThis}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": texts.signIn.show }}
        />
        <Group>
          <Button
            type="submit"
            variant="default"
            loading={begin.isPending || end.isPending}
            disabled={password === ""}
          >
            {on ? words.turnOff : words.turnOn}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Enrol({ made, onDone }: { made: SecondFactor; onDone: () => void }) {
  const [code, setCode] = useState("");
  const finish = useFinishSecondFactor(onDone);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    finish.mutate(code.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{words.scan}</Text>
        <Copyable text={made.totpURI} />
        <Text size="sm">{words.backupCodes}</Text>
        <Code block tabIndex={0}>
          {made.backupCodes.join("\n")}
        </Code>
        {finish.error !== null && <Failure error={finish.error} />}
        <TextInput
          label={texts.signIn.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maw={200}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={finish.isPending} disabled={code.trim().length < 6}>
            {texts.signIn.verify}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
