// The organization's name and rules, and one's own account below them.
import { Button, Group, Paper, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Settings, settingsQuery, useChangeSettings } from "../../api/settings.ts";
import { Copyable } from "../../components/copy.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { OwnAccount } from "./account.tsx";

const words = texts.settings;

export function SettingsPage() {
  const { org, may } = useMembership();
  const settings = useQuery(settingsQuery(org.id));
  return (
    <Page title={texts.pages.settings} lead={words.lead}>
      <Section title={words.organization}>
        <Loaded query={settings}>
          {(of) => <Organization org={org.id} of={of} mayChange={may("settings.change")} />}
        </Loaded>
      </Section>
      <OwnAccount />
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
