// The organization's name and rules, and one's own account: name, password, second factor, passkeys, sessions.
import { Button, Group, Paper, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Profile,
  profileQuery,
  type Settings,
  settingsQuery,
  useChangeSettings,
  useRename,
} from "../../api/settings.ts";
import { Copyable } from "../../components/copy.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { Display } from "./display.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PasswordForm } from "./password.tsx";
import { SecondFactorCard } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

const words = texts.settings;

export function SettingsPage() {
  const { org, may } = useMembership();
  const settings = useQuery(settingsQuery(org.id));
  const profile = useQuery(profileQuery);
  return (
    <Page title={texts.pages.settings} lead={words.lead}>
      <Section title={words.organization}>
        <Loaded query={settings}>
          {(of) => <Organization org={org.id} of={of} mayChange={may("settings.change")} />}
        </Loaded>
      </Section>
      <Loaded query={profile}>{(of) => <Account of={of} />}</Loaded>
    </Page>
  );
}

function Organization({ org, of, mayChange }: { org: string; of: Settings; mayChange: boolean }) {
  const [name, setName] = useState(of.name);
  const change = useChangeSettings(org);
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        {change.error !== null && <Failure error={change.error} />}
        <Group gap="sm" align="flex-end">
          <TextInput
            label={words.name}
            w={{ base: "100%", sm: 320 }}
            maxLength={200}
            disabled={!mayChange}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {mayChange && (
            <Button
              loading={change.isPending}
              disabled={name.trim() === "" || name.trim() === of.name}
              onClick={() => change.mutate({ name: name.trim() })}
            >
              {texts.dialog.save}
            </Button>
          )}
        </Group>
        <Switch
          label={words.requireTwoFactor}
          description={words.requireTwoFactorHelp}
          disabled={!mayChange || change.isPending}
          checked={of.require_two_factor}
          onChange={(event) => change.mutate({ require_two_factor: event.currentTarget.checked })}
        />
        <Text size="sm">{words.baseUrl}</Text>
        <Copyable text={of.base_url} />
        <Text size="sm" c="dimmed">
          {of.paid_workspace ? words.paid : words.notPaid} {words.content}
        </Text>
      </Stack>
    </Paper>
  );
}

function Account({ of }: { of: Profile }) {
  const [name, setName] = useState(of.person.name);
  const rename = useRename();
  return (
    <>
      <Section title={words.account}>
        <Paper withBorder p="md">
          <Stack gap="md">
            <Text size="sm" c="dimmed" className="name">
              {of.person.email}
            </Text>
            {rename.error !== null && <Failure error={rename.error} />}
            <Group gap="sm" align="flex-end">
              <TextInput
                label={words.yourName}
                w={{ base: "100%", sm: 320 }}
                maxLength={100}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Button
                loading={rename.isPending}
                disabled={name.trim() === "" || name.trim() === of.person.name}
                onClick={() => rename.mutate({ name: name.trim() })}
              >
                {texts.dialog.save}
              </Button>
            </Group>
            <PasswordForm />
          </Stack>
        </Paper>
      </Section>
      <Section title={words.secondFactor}>
        <Paper withBorder p="md">
          <SecondFactorCard on={of.person.two_factor} />
        </Paper>
      </Section>
      <Passkeys of={of.passkeys} />
      <Sessions of={of.sessions} />
      <Display />
    </>
  );
}
