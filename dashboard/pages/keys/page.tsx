// Keys: make, find, limit, replace, revoke (specification 3 and 5).
import { Alert, Button, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Choice, FITTING } from "../../components/choice.tsx";
import { chipOf, FilterRow } from "../../components/filters.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { keysTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { type Act, KeyActs } from "./acts.tsx";
import { keyColumns } from "./columns.tsx";
import { isOver, stateOf } from "./state.ts";

type Key = Row<"GET /orgs/{org}/keys">;

const SHAPE = {
  search: text(),
  state: oneOf(["not_revoked", "active", "limit", "paused", "expired", "revoked", "all"], "not_revoked"),
  scope: oneOf(["all", "standard", "research"], "all"),
  /** Who made it: a person, or `left` for everybody who is no longer of the organization. */
  by: text(),
  /** A link from elsewhere opens the form with this scope. */
  create: oneOf(["", "standard", "research"], ""),
};

export function KeysPage() {
  const { org, may } = useMembership();
  const keys = useQuery(read("GET /orgs/{org}/keys", { org: org.id }));
  const [filters, setFilters] = useFilters(SHAPE);
  const [act, setAct] = useState<Act | null>(() =>
    filters.create === "" || !may("keys.create") ? null : { kind: "create", scope: filters.create },
  );
  // Kept while the page is open: what a successor replaced is named in no later answer.
  const [replaced, setReplaced] = useState<ReadonlyMap<string, string>>(new Map());
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
    <Page title={pageNames.keys} lead={words.lead} actions={create}>
      <Loaded query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="keys" action={create}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <Orphans rows={data} show={() => setFilters({ by: LEFT, state: "not_revoked" })} />
              <KeyFilters filters={filters} set={setFilters} makers={makersOf(data)} />
              <DataTable
                label={pageNames.keys}
                rows={data.filter(matching(filters))}
                rowKey={({ id }) => id}
                columns={keyColumns({
                  org: org.id,
                  onAct: (kind, key) => setAct({ kind, key }),
                  replacedBy: ({ id }) =>
                    data.find((old) => old.id === replaced.get(id) && old.status === "active"),
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
      <KeyActs
        org={org.id}
        act={act}
        onClose={close}
        onReplaced={(made, old) => setReplaced((known) => new Map(known).set(made, old))}
      />
    </Page>
  );
}

const LEFT = "left";

function Orphans({ rows, show }: { rows: readonly Key[]; show: () => void }) {
  const count = rows.filter(({ status, created_by }) => status === "active" && created_by?.left).length;
  if (count === 0) return null;
  return (
    <Alert color="yellow">
      <Group justify="space-between" gap="xs">
        <Text size="sm">{words.orphans(count)}</Text>
        <Button variant="default" size="compact-sm" onClick={show}>
          {words.showOrphans}
        </Button>
      </Group>
    </Alert>
  );
}

/** Everybody who made one of these keys. */
const makersOf = (rows: readonly Key[]): { value: string; label: string }[] => {
  const names = new Map(
    rows.flatMap(({ created_by: by }) => (by === null ? [] : [[by.id, by.name ?? by.id]])),
  );
  return [...names].map(([value, label]) => ({ value, label }));
};

const matching =
  ({ search, state, scope, by }: Filters<typeof SHAPE>) =>
  (key: Key): boolean => {
    const its = stateOf(key);
    return (
      (state === "all" || (state === "not_revoked" ? !isOver(key) : its === state)) &&
      (scope === "all" || key.scope === scope) &&
      (by === "" || (by === LEFT ? key.created_by?.left === true : key.created_by?.id === by)) &&
      `${key.name} ${key.prefix} ${key.last_four ?? ""} ${key.id}`
        .toLowerCase()
        .includes(search.toLowerCase())
    );
  };

interface KeyFiltersProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
  makers: readonly { value: string; label: string }[];
}

const KeyFilters = ({ filters, set, makers }: KeyFiltersProps) => (
  <FilterRow>
    <SearchField
      label={words.search}
      value={filters.search}
      onSearch={(search) => set({ search }, { typed: true })}
    />
    <Choice
      label={words.filterState}
      value={filters.state}
      of={SHAPE.state}
      set={(state) => set({ state })}
      data={[
        { value: "not_revoked", label: words.notRevoked },
        { value: "active", label: words.states.active },
        { value: "limit", label: words.stateLimit },
        { value: "paused", label: words.states.paused },
        { value: "expired", label: words.states.expired },
        { value: "revoked", label: words.states.revoked },
        { value: "all", label: words.all },
      ]}
    />
    <Choice
      label={words.filterScope}
      value={filters.scope}
      of={SHAPE.scope}
      set={(scope) => set({ scope })}
      data={[
        { value: "all", label: words.all },
        { value: "standard", label: words.standard },
        { value: "research", label: words.research },
      ]}
    />
    <Select
      label={words.columns.by}
      allowDeselect={false}
      comboboxProps={FITTING}
      {...chipOf(filters.by !== "")}
      value={filters.by}
      onChange={(value) => set({ by: value ?? "" })}
      data={[{ value: "", label: words.all }, { value: LEFT, label: words.makersLeft }, ...makers]}
    />
  </FilterRow>
);

function Hidden({ rows, shown, show }: { rows: readonly Key[]; shown: boolean; show: () => void }) {
  const count = rows.filter(isOver).length;
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
