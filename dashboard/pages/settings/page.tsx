// The organization's name and rules, and the person's own account below them.
import { Button, Group, Paper, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Copyable } from "../../components/copy.tsx";
import { type Fact, Meanwhile, sinceOpened } from "../../components/meanwhile.tsx";
import { Page, Section } from "../../components/page.tsx";
import { FormFailure } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { RateLimits } from "../../components/rate-limits.tsx";
import { dialogTexts, meanwhileTexts, pageNames, rateTexts } from "../../components/texts.ts";
import { settingsTexts as words } from "./texts.ts";
import { OwnAccount } from "./account.tsx";

type Settings = Answer<"GET /orgs/{org}/settings">;

export function SettingsPage() {
  const { org, may } = useMembership();
  const settings = useQuery(read("GET /orgs/{org}/settings", { org: org.id }));
  return (
    <Page title={pageNames.settings} lead={words.lead}>
      <Section title={words.organization}>
        <Loaded query={settings}>
          {(of) => <Organization org={org.id} of={of} mayChange={may("settings.change")} />}
        </Loaded>
      </Section>
      <Section title={rateTexts.title}>
        <Paper withBorder p="md">
          <RateLimits />
        </Paper>
      </Section>
      <OwnAccount />
    </Page>
  );
}

/** A name being typed, and the settings that it is to change. */
interface Typed {
  name: string;
  from: Settings;
}

function Organization({ org, of, mayChange }: { org: string; of: Settings; mayChange: boolean }) {
  const [typed, setTyped] = useState<Typed | null>(null);
  const change = useChange(
    "PATCH /orgs/{org}/settings",
    { org },
    (saved) => setTyped((was) => afterSaving(saved, was)),
    [],
  );
  const { name, from } = typed ?? { name: of.name, from: of };
  const { on, late } = sinceOpened(change, from, of);
  const discard = (): void => {
    setTyped(null);
    change.reset();
  };
  return (
    <Paper withBorder p="md" data-fields>
      <Stack gap="sm">
        {late && (
          <Meanwhile facts={factsOf(on)}>
            <Button size="compact-sm" variant="default" onClick={discard}>
              {meanwhileTexts.discard}
            </Button>
          </Meanwhile>
        )}
        {!late && change.error !== null && <FormFailure error={change.error} />}
        <Group gap="sm" align="flex-end">
          <TextInput
            label={words.name}
            data-field="name"
            w={{ base: "100%", sm: 320 }}
            maxLength={200}
            disabled={!mayChange}
            value={name}
            onChange={(event) => setTyped({ name: event.currentTarget.value, from })}
          />
          {mayChange && (
            <Button
              loading={change.isPending}
              disabled={name.trim() === "" || name.trim() === on.name}
              onClick={() => change.mutate({ name: name.trim(), version: on.version })}
            >
              {late ? meanwhileTexts.saveAnyway : dialogTexts.save}
            </Button>
          )}
        </Group>
        <Switch
          label={words.requireTwoFactor}
          description={words.requireTwoFactorHelp}
          disabled={!mayChange || change.isPending}
          checked={of.require_two_factor}
          onChange={(event) =>
            change.mutate({ require_two_factor: event.currentTarget.checked, version: of.version })
          }
        />
        <Text size="sm" fw={600}>
          {words.baseUrl}
        </Text>
        <Copyable text={of.base_url} />
        <Text size="sm" c="dimmed">
          {of.paid_workspace ? words.paid : words.notPaid} {words.content}
        </Text>
      </Stack>
    </Paper>
  );
}

/** Rebases what is being typed on the saved settings, unless they have another name than either of the two. */
const afterSaving = (saved: Settings, was: Typed | null): Typed | null =>
  was !== null && [was.from.name, was.name.trim()].includes(saved.name) ? { ...was, from: saved } : was;

const factsOf = ({ name, require_two_factor }: Settings): Fact[] => [
  [words.name, name],
  [words.requireTwoFactor, require_two_factor ? meanwhileTexts.yes : meanwhileTexts.no],
];
