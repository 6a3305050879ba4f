// Keys: make, find, limit, replace, revoke (specification 3 and 5).
import { Alert, Button, Group, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { moreOf, read, readPages } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Choice } from "../../components/choice.tsx";
import { FilterRow } from "../../components/filters.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page } from "../../components/page.tsx";
import { type Option, SearchSelect, useTyped, withChosen } from "../../components/search-select.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded, Loading } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { keysTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { type Act, KeyActs } from "./acts.tsx";
import { keyColumns } from "./columns.tsx";

const SHAPE = {
  search: text(),
  state: oneOf(["not_revoked", "active", "limit", "paused", "expired", "revoked", "all"], "not_revoked"),
  scope: oneOf(["all", "standard", "research"], "all"),
  /** Who made it: a person, or `left` for everyone who has left the organization. */
  by: text(),
  /** A link from elsewhere opens the form with this scope. */
  create: oneOf(["", "standard", "research"], ""),
};

export function KeysPage() {
  const { org, may } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const asked = askedOf(filters);
  const keys = useInfiniteQuery(readPages("GET /orgs/{org}/keys", { org: org.id }, asked));
  const counted = useQuery(read("GET /orgs/{org}/keys", { org: org.id }, { limit: 1 }));
  const made = useQuery(read("GET /orgs/{org}/key-makers", { org: org.id }));
  const [act, setAct] = useState<Act | null>(() =>
    filters.create === "" || !may("keys.create") ? null : { kind: "create", scope: filters.create },
  );
  // Kept while the page is open: no later answer names the key that a successor replaced.
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
      {(counted.isPending || made.isPending) && <Loading lines={0} />}
      <Loaded query={keys}>
        {(rows) =>
          counted.data?.data.length === 0 ? (
            <Empty icon="keys" action={create}>
              {words.empty}
            </Empty>
          ) : (
            <>
              <Orphans
                count={made.data?.orphans ?? 0}
                show={() => setFilters({ by: LEFT, state: "not_revoked" })}
              />
              <KeyFilters org={org.id} filters={filters} set={setFilters} makers={made.data?.data ?? []} />
              <DataTable
                label={pageNames.keys}
                rows={rows}
                rowKey={({ id }) => id}
                columns={keyColumns({
                  org: org.id,
                  onAct: (kind, key) => setAct({ kind, key }),
                  replacedBy: ({ id }) =>
                    rows.find((old) => old.id === replaced.get(id) && old.status === "active"),
                })}
                more={moreOf(keys)}
              />
              <Hidden
                count={(counted.data?.revoked ?? 0) + (counted.data?.expired ?? 0)}
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

function Orphans({ count, show }: { count: number; show: () => void }) {
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

/** The server's names, where this page has others; `limit`: blocked by one. */
const STATES = { not_revoked: "not_over", limit: "blocked_by_limit" } as const;

const askedOf = ({ search, state, scope, by }: Filters<typeof SHAPE>) => ({
  search,
  state: state === "not_revoked" || state === "limit" ? STATES[state] : state,
  scope: scope === "all" ? undefined : scope,
  by,
});

type Maker = Row<"GET /orgs/{org}/key-makers">;

interface KeyFiltersProps {
  org: string;
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
  /** The people with the most keys; others are found by typing. */
  makers: readonly Maker[];
}

const KeyFilters = ({ org, filters, set, makers }: KeyFiltersProps) => (
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
    <MakerSelect org={org} value={filters.by} makers={makers} onChange={(by) => set({ by })} />
  </FilterRow>
);

interface MakerSelectProps extends Pick<KeyFiltersProps, "org" | "makers"> {
  value: string;
  onChange: (by: string) => void;
}

function MakerSelect({ org, value, makers, onChange }: MakerSelectProps) {
  const known = EVERYBODY.find((one) => one.value === value) ?? makers.map(optionOf).find(isOf(value));
  // A link may name a person with few keys.
  const { data: found } = useQuery({
    ...read("GET /orgs/{org}/key-makers", { org }, { search: value }),
    enabled: known === undefined,
  });
  const chosen = known ?? found?.data.map(optionOf).find(isOf(value)) ?? { value, label: value };
  const typed = useTyped(chosen);
  const { data: named, isFetching } = useQuery({
    ...read("GET /orgs/{org}/key-makers", { org }, { search: typed.search }),
    enabled: typed.search !== "",
  });
  const fitting = typed.search === "" ? makers : (named?.data ?? []);
  return (
    <SearchSelect
      label={words.columns.by}
      typed={typed}
      isFetching={isFetching}
      value={value}
      onChange={onChange}
      found={withChosen(chosen, [...EVERYBODY, ...fitting.map(optionOf)])}
    />
  );
}

const EVERYBODY: readonly Option[] = [
  { value: "", label: words.all },
  { value: LEFT, label: words.makersLeft },
];
const optionOf = ({ id, name }: Maker): Option => ({ value: id, label: name });
const isOf =
  (id: string) =>
  ({ value }: Option): boolean =>
    value === id;

function Hidden({ count, shown, show }: { count: number; shown: boolean; show: () => void }) {
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
