// A person's passkeys: list, add, remove.
import { Button, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { canUsePasskeys, useAddPasskey, useRemovePasskey } from "../../api/auth.ts";
import { visitQuery } from "../../api/session.ts";
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { Form } from "../../components/form.tsx";
import { Time } from "../../components/figures.tsx";
import { Section } from "../../components/page.tsx";
import { passkeyTexts as words } from "./texts.ts";

type Profile = Answer<"GET /profile">;

type Passkey = Profile["passkeys"][number];

export function Passkeys({ of }: { of: readonly Passkey[] }) {
  const { data } = useQuery(visitQuery);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const usable = data?.ways.passkey !== false && canUsePasskeys();
  return (
    <Section title={words.title}>
      <Paper withBorder p="md">
        <Stack gap="sm">
          <Text size="sm">{words.lead}</Text>
          {usable ? (
            <AddPasskey />
          ) : (
            <Text size="sm" c="dimmed">
              {words.nowhere}
            </Text>
          )}
        </Stack>
      </Paper>
      {of.length > 0 && (
        <DataTable label={words.title} rows={of} rowKey={({ id }) => id} columns={columns(setRemoved)} />
      )}
      {removed !== null && <RemovePasskey passkey={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

const nameOf = ({ name }: Passkey): string => name ?? words.unnamed;

const columns = (remove: (passkey: Passkey) => void): Column<Passkey>[] => [
  {
    title: words.columns.name,
    always: true,
    cell: (passkey) => (
      <Text size="sm" className="name">
        {nameOf(passkey)}
      </Text>
    ),
  },
  { title: words.columns.added, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.actions,
    always: true,
    cell: (passkey) => (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={words.removeTitle(nameOf(passkey))}
        onClick={() => remove(passkey)}
      >
        {words.remove}
      </Button>
    ),
  },
];

function AddPasskey() {
  const [name, setName] = useState("");
  const add = useAddPasskey(() => setName(""));
  return (
    <Form gap="sm" onSubmit={() => add.mutate(name.trim())} error={add.error}>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={words.name}
          data-field="name"
          description={words.nameHelp}
          w={{ base: "100%", sm: 320 }}
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={add.isPending} disabled={name.trim() === ""}>
          {words.add}
        </Button>
      </Group>
    </Form>
  );
}

function RemovePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const remove = useRemovePasskey(onClose);
  return (
    <ConfirmDialog
      calm
      title={words.removeTitle(nameOf(passkey))}
      action={words.removeTitle(nameOf(passkey))}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate(passkey.id)}
    >
      {words.removeHelp}
    </ConfirmDialog>
  );
}
