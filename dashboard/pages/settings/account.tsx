// The person's own account, independent of any organization: name, password, second factor, passkeys, sessions,
// display of times.
import { Button, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Section } from "../../components/page.tsx";
import { FormFailure } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { dialogTexts } from "../../components/texts.ts";
import { settingsTexts as words } from "./texts.ts";
import { Display } from "./display.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PasswordForm } from "./password.tsx";
import { SecondFactorCard } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

type Profile = Answer<"GET /profile">;

export function OwnAccount() {
  const profile = useQuery(read("GET /profile", {}));
  return <Loaded query={profile}>{(of) => <Account of={of} />}</Loaded>;
}

function Account({ of }: { of: Profile }) {
  const [name, setName] = useState(of.person.name);
  const rename = useChange("PATCH /profile", {});
  return (
    <>
      <Section title={words.account}>
        <Paper withBorder p="md" data-fields>
          <Stack gap="md">
            <Text size="sm" c="dimmed" className="name">
              {of.person.email}
            </Text>
            {rename.error !== null && <FormFailure error={rename.error} />}
            <Group gap="sm" align="flex-end">
              <TextInput
                label={words.yourName}
                data-field="name"
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
                {dialogTexts.save}
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
