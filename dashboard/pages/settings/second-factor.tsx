// The second factor: on or off, and new backup codes. Each change asks for the password.
import { Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { useState } from "react";
import {
  type NewSecondFactor,
  useBeginSecondFactor,
  useEndSecondFactor,
  useNewBackupCodes,
} from "../../api/auth.ts";
import { Form } from "../../components/form.tsx";
import { accountFormTexts, secretTexts } from "../../components/texts.ts";
import { settingsTexts as words } from "./texts.ts";
import { BackupCodes } from "./backup-codes.tsx";
import { Enrol } from "./enrol.tsx";

export function SecondFactorCard({ on }: { on: boolean }) {
  const [made, setMade] = useState<NewSecondFactor | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (made !== null) return <Enrol made={made} onClose={() => setMade(null)} />;
  if (codes !== null) return <NewCodes codes={codes} onClose={() => setCodes(null)} />;
  return on ? <TurnedOn onCodes={setCodes} /> : <TurnedOff onMade={setMade} />;
}

function TurnedOff({ onMade }: { onMade: (made: NewSecondFactor) => void }) {
  const [password, setPassword] = useState("");
  const begin = useBeginSecondFactor(onMade);
  return (
    <Form
      gap="sm"
      maw={320}
      onSubmit={() => begin.mutate(password)}
      error={begin.error}
      actions={
        <Group>
          <Button type="submit" variant="default" loading={begin.isPending} disabled={password === ""}>
            {words.turnOn}
          </Button>
        </Group>
      }
    >
      <Text size="sm">{words.twoFactorOff}</Text>
      <OwnPassword value={password} onChange={setPassword} />
    </Form>
  );
}

function TurnedOn({ onCodes }: { onCodes: (codes: readonly string[]) => void }) {
  const [password, setPassword] = useState("");
  const end = useEndSecondFactor();
  const renew = useNewBackupCodes(({ backupCodes }) => onCodes(backupCodes));
  const pending = end.isPending || renew.isPending;
  return (
    <Form
      gap="sm"
      maw={320}
      onSubmit={() => {
        end.reset();
        renew.mutate(password);
      }}
      error={end.error ?? renew.error}
      actions={
        <Group gap="xs">
          <Button
            type="submit"
            variant="default"
            loading={renew.isPending}
            disabled={password === "" || pending}
          >
            {words.newBackupCodes}
          </Button>
          <Button
            variant="default"
            loading={end.isPending}
            disabled={password === "" || pending}
            onClick={() => {
              renew.reset();
              end.mutate(password);
            }}
          >
            {words.turnOff}
          </Button>
        </Group>
      }
    >
      <Text size="sm">{words.twoFactorOn}</Text>
      <OwnPassword value={password} onChange={setPassword} />
    </Form>
  );
}

function NewCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [stored, setStored] = useState(false);
  return (
    <Stack gap="sm">
      <Text size="sm">{words.oldCodesDead}</Text>
      <BackupCodes codes={codes} stored={stored} onStored={setStored} />
      <Group>
        <Button disabled={!stored} onClick={onClose}>
          {secretTexts.done}
        </Button>
      </Group>
    </Stack>
  );
}

const OwnPassword = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => (
  <PasswordInput
    label={words.passwordForThis}
    autoComplete="current-password"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    visibilityToggleButtonProps={{ "aria-label": accountFormTexts.show }}
  />
);
