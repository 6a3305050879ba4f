// Keys: make, find, limit, replace, revoke (specification 3 and 5).
import { Alert, Button, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keysQuery } from "../../api/keys.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { KeyActs } from "./acts.tsx";
import { keyColumns } from "./columns.tsx";
import type { KeyAct } from "./row-menu.tsx";
import { stateOf } from "./state.ts";

const words = texts.keys;
const SHAPE = {
  search: text(),
  state: oneOf(["not_revoked", "active", "limit", "revoked", "all"], "not_revoked"),
  scope: oneOf(["all", "standard", "research"], "all"),
  /** A link from elsewhere opens the form with this scope. */
  create: oneOf(["", "standard", "research"], ""),
};

export type Act = { kind: "create"; scope: Key["scope"] } | { kind: KeyAct; key: Key };

export function KeysPage() {
  const { org, may } = useMembership();
  const keys = useQuery(keysQuery(org.id));
  const [filters, setFilters] = useFilters(SHAPE);
  const [act, setAct] = useState<Act | null>(() =>
    filters.create === "" || !may("keys.create") ? null : { kind: "create", scope: filters.create },
  );
  const close = (): void => {
    setAct(null);
    if (filters.create !== "") setFilters({ create: "" });
  };
  const create = may("keys.create") ? (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      onClick={() => setAct({ kind: "create", scope: "standard" })}
    >
      {words.create}
    </Button>
  ) : undefined;
  return (
    <Page title={texts.pages.keys} lead={words.lead} actions={create}>
      <Loaded query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="keys" action={create}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <Orphans rows={data} />
              <KeyFilters filters={filters} set={setFilters} />
              <DataTable
                label={texts.pages.keys}
                rows={data.filter(matching(filters))}
                rowKey={({ id }) => id}
                columns={keyColumns({
                  org: org.id,
                  onAct: (kind, key) => setAct({ kind, key }),
                })}
              />
              <Hidden
                rows={data}
                shown={filters.state !== "not_revoked"}
                show={() => setFilters({ state: "all" })}
              />
            </>
          )
        }
      </Loaded>
      <KeyActs org={org.id} act={act} onClose={close} />
    </Page>
  );
}

function Orphans({ rows }: { rows: readonly Key[] }) {
  const count = rows.filter(({ status, created_by }) => status === "active" && created_by?.left).length;
  return count === 0 ? null : <Alert color="yellow">{words.orphans(count)}</Alert>;
}

const matching =
  ({ search, state, scope }: Filters<typeof SHAPE>) =>
  (key: Key): boolean => {
    const its = stateOf(key);
    return (
      (state === "all" || (state === "not_revoked" ? its !== "revoked" : its === state)) &&
      (scope === "all" || key.scope === scope) &&
      `${key.name} ${key.prefix} ${key.id}`.toLowerCase().includes(search.toLowerCase())
    );
  };

interface KeyFiltersProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
}

const KeyFilters = ({ filters, set }: KeyFiltersProps) => (
  <Group gap="sm" align="flex-end">
    <SearchField
      label={words.search}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Select
      label={words.filterState}
      w={170}
      allowDeselect={false}
      value={filters.state}
      onChange={(value) => set({ state: SHAPE.state(value ?? undefined) })}
      data={[
        { value: "not_revoked", label: words.notRevoked },
        { value: "active", label: words.states.active },
        { value: "limit", label: words.stateLimit },
        { value: "revoked", label: words.states.revoked },
        { value: "all", label: words.all },
      ]}
    />
    <Select
      label={words.filterScope}
      w={140}
      allowDeselect={false}
      value={filters.scope}
      onChange={(value) => set({ scope: SHAPE.scope(value ?? undefined) })}
      data={[
        { value: "all", label: words.all },
        { value: "standard", label: words.standard },
        { value: "research", label: words.research },
      ]}
    />
  </Group>
);

function Hidden({ rows, shown, show }: { rows: readonly Key[]; shown: boolean; show: () => void }) {
  const count = rows.filter(({ status }) => status === "revoked").length;
  if (shown || count === 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        {words.revokedHidden(count)}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={show}>
        {words.showRevoked}
      </Button>
    </Group>
  );
}
