// Accounts of people, a way back in for those who lost theirs, and the management keys of scripts.
import { Button, Checkbox, Code, Stack, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type ManagementKey,
  managementKeysQuery,
  type OperatorPerson,
  peopleQuery,
  useCreateManagementKey,
  useResetPerson,
  useRevokeManagementKey,
} from "../../../api/office.ts";
import { organizationsQuery } from "../../../api/organizations.ts";
import { Copyable } from "../../../components/copy.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { Ago, Time } from "../../../components/figures.tsx";
import { Icon } from "../../../components/icon.tsx";
import { LinkDialog, type ShownLink } from "../../../components/link-dialog.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { texts } from "../../../texts.ts";

const words = texts.operatorPeople;
type Act =
  | { kind: "reset"; of: OperatorPerson }
  | { kind: "createKey" }
  | { kind: "revokeKey"; of: ManagementKey };

export function PeoplePage() {
  const people = useQuery(peopleQuery);
  const keys = useQuery(managementKeysQuery);
  const [act, setAct] = useState<Act | null>(null);
  const [link, setLink] = useState<ShownLink | null>(null);
  const close = (): void => setAct(null);
  const organizations = useInfiniteQuery(organizationsQuery(""));
  const nameOf = (org: string): string => organizations.data?.find(({ id }) => id === org)?.name ?? org;
  return (
    <Page title={texts.operatorPages.people} lead={words.lead}>
      <Loaded query={people}>
        {({ data }) => (
          <DataTable
            label={texts.operatorPages.people}
            rows={data}
            rowKey={({ person }) => person.id}
            columns={personColumns(nameOf, (of) => setAct({ kind: "reset", of }))}
          />
        )}
      </Loaded>
      <Section
        title={words.keys}
        actions={
          <Button
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setAct({ kind: "createKey" })}
          >
            {words.createKey}
          </Button>
        }
      >
        <Loaded query={keys}>
          {({ data }) => (
            <DataTable
              label={words.keys}
              rows={data}
              rowKey={({ id }) => id}
              columns={keyColumns((of) => setAct({ kind: "revokeKey", of }))}
            />
          )}
        </Loaded>
      </Section>
      {act?.kind === "reset" && (
        <ResetDialog
          of={act.of}
          onClose={close}
          onLink={(shown) => {
            close();
            setLink(shown);
          }}
        />
      )}
      {act?.kind === "createKey" && <CreateKeyDialog onClose={close} />}
      {act?.kind === "revokeKey" && <RevokeKeyDialog of={act.of} onClose={close} />}
      <LinkDialog shown={link} onClose={() => setLink(null)}>
        {words.sendLink}
      </LinkDialog>
    </Page>
  );
}

const personColumns = (
  nameOf: (org: string) => string,
  reset: (of: OperatorPerson) => void,
): Column<OperatorPerson>[] => [
  {
    title: words.columns.name,
    always: true,
    cell: ({ person, email }) => (
      <Stack gap={0}>
        <Text size="sm" fw={600} className="name">
          {person.name ?? "–"}
        </Text>
        <Text size="xs" c="dimmed" className="name">
          {email}
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.operator, cell: ({ operator }) => (operator ? words.yes : words.no) },
  { title: words.columns.twoFactor, cell: ({ two_factor }) => (two_factor ? words.on : words.off) },
  {
    title: words.columns.organizations,
    cell: ({ memberships }) =>
      memberships.map(({ org, role }) => `${nameOf(org)} (${role})`).join(", ") || "–",
  },
  { title: words.columns.seen, cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) => (
      <RowActs label={words.menu(of.email)} acts={[{ label: words.reset, act: () => reset(of) }]} />
    ),
  },
];

const keyColumns = (revoke: (of: ManagementKey) => void): Column<ManagementKey>[] => [
  { title: words.columns.name, always: true, cell: ({ name }) => <span className="name">{name}</span> },
  { title: words.columns.prefix, cell: ({ prefix }) => <Code>{prefix}…</Code> },
  { title: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.state,
    cell: ({ revoked_at }) => <StateBadge state={revoked_at === null ? "active" : "revoked"} />,
  },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) =>
      of.revoked_at === null && (
        <RowActs label={words.menu(of.name)} acts={[{ label: words.revokeKey, act: () => revoke(of) }]} />
      ),
  },
];

interface ResetProps {
  of: OperatorPerson;
  onClose: () => void;
  onLink: (link: ShownLink) => void;
}

function ResetDialog({ of, onClose, onLink }: ResetProps) {
  const [twoFactor, setTwoFactor] = useState(false);
  const reset = useResetPerson(of.person.id, ({ email, link, expires_at }) =>
    onLink({ title: words.linkFor(email), link, expiresAt: expires_at }),
  );
  return (
    <FormDialog
      opened
      title={words.resetTitle(of.email)}
      action={words.reset}
      mutation={reset}
      onClose={onClose}
      onSubmit={() => reset.mutate({ two_factor: twoFactor })}
    >
      <Text size="sm">{words.resetHelp}</Text>
      <Checkbox
        label={words.alsoTwoFactor}
        checked={twoFactor}
        onChange={(event) => setTwoFactor(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const create = useCreateManagementKey((made) => setSecret(made.secret));
  return (
    <FormDialog
      opened
      title={words.createKey}
      action={secret === null ? words.createKey : texts.secret.done}
      mutation={create}
      disabled={name.trim() === ""}
      onClose={onClose}
      onSubmit={() => (secret === null ? create.mutate({ name: name.trim() }) : onClose())}
    >
      {secret === null ? (
        <TextInput
          label={words.columns.name}
          description={words.keyHelp}
          maxLength={200}
          value={name}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
      ) : (
        <>
          <Text size="sm">{texts.secret.once}</Text>
          <Copyable text={secret} />
        </>
      )}
    </FormDialog>
  );
}

function RevokeKeyDialog({ of, onClose }: { of: ManagementKey; onClose: () => void }) {
  const revoke = useRevokeManagementKey(of.id, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.revokeTitle(of.name)}
      name={of.name}
      action={words.revokeKey}
      mutation={revoke}
      onClose={onClose}
      onSubmit={() => revoke.mutate(null)}
    >
      <Text size="sm">{words.revokeHelp}</Text>
    </ConfirmDialog>
  );
}
