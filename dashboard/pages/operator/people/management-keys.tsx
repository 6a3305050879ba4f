// The management keys of scripts, and the logins of command lines.
import { Button, Code, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import { Choice } from "../../../components/choice.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Ago, Time } from "../../../components/figures.tsx";
import { FilterRow } from "../../../components/filters.tsx";
import { Icon } from "../../../components/icon.tsx";
import { Section } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { SearchField } from "../../../components/search-field.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Loaded } from "../../../components/states.tsx";
import { oneOf, text as textFilter, useFilters } from "../../../filters.ts";
import { operatorPeopleTexts as words } from "./texts.ts";

export type ManagementKey = Row<"GET /operator/management-keys">;

const STATES = ["active", "expired", "revoked"] as const;
const SHAPE = { key: textFilter(), state: oneOf(["", ...STATES], "") };

interface ManagementKeysProps {
  onCreate: () => void;
  onRevoke: (of: ManagementKey) => void;
}

export function ManagementKeys({ onCreate, onRevoke }: ManagementKeysProps) {
  const [{ key: search, state }, setFilters] = useFilters(SHAPE);
  const keys = useInfiniteQuery(
    readPages("GET /operator/management-keys", {}, { search, ...(state !== "" && { state }) }),
  );
  return (
    <Section
      title={words.keys}
      actions={
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={onCreate}>
          {words.createKey}
        </Button>
      }
    >
      <FilterRow>
        <SearchField
          label={words.searchKeys}
          value={search}
          onSearch={(key) => setFilters({ key }, { typed: true })}
        />
        <Choice
          label={words.columns.state}
          value={state}
          of={SHAPE.state}
          set={(one) => setFilters({ state: one })}
          data={[{ value: "", label: words.allKeys }, ...STATES.map((value) => ({ value, label: value }))]}
        />
      </FilterRow>
      <Loaded query={keys}>
        {(rows) => (
          <DataTable
            label={words.keys}
            rows={rows}
            rowKey={({ id }) => id}
            columns={keyColumns(onRevoke)}
            more={moreOf(keys)}
          />
        )}
      </Loaded>
    </Section>
  );
}

const ownerOf = ({ owner }: ManagementKey): string =>
  owner === null ? words.installation : (owner.name ?? owner.id);

const keyColumns = (revoke: (of: ManagementKey) => void): Column<ManagementKey>[] => [
  {
    title: words.columns.name,
    always: true,
    cell: (key) => (
      <Stack gap={0}>
        <span className="name">{key.name}</span>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {words.columns.owner} {ownerOf(key)}
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {words.columns.used} <Ago at={key.last_used_at} never={words.neverUsed} />
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.prefix, cell: ({ prefix }) => <Code>{prefix}…</Code> },
  {
    title: words.columns.owner,
    saidFirst: true,
    cell: (key) => <span className="name">{ownerOf(key)}</span>,
  },
  { title: words.columns.state, cell: ({ state }) => <StateBadge state={state} /> },
  {
    title: words.columns.ends,
    cell: ({ expires_at }) => (expires_at === null ? "–" : <Time at={expires_at} />),
  },
  {
    title: words.columns.used,
    saidFirst: true,
    cell: ({ last_used_at }) => <Ago at={last_used_at} never={words.neverUsed} />,
  },
  { title: words.columns.created, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) =>
      of.state === "active" && (
        <RowActs label={words.menu(of.name)} acts={[{ label: words.revokeKey, act: () => revoke(of) }]} />
      ),
  },
];
