// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { Button, Group, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { type ActivityRow, activityQuery } from "../../api/spend.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loading, Trouble } from "../../components/states.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { formatTime } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { activityColumns } from "./columns.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { useTail } from "./tail.ts";

const words = texts.activity;
const STATES = ["running", "settled", "released", "outcome_unknown", "refused", "replay"] as const;
const SHAPE = {
  range: oneOf(["24h", "7d", "30d", "month"], "7d"),
  state: oneOf(["", ...STATES], ""),
  model: text(),
  key: text(),
  /** Instead of `range`: two instants, as a bar of the usage page names them. */
  from: text(),
  to: text(),
  find: text(),
  req: text(),
};

export function ActivityPage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const [live, setLive] = useState(false);
  const { req, range, ...others } = filters;
  const asked = others.from === "" ? { range, ...others } : others;
  const activity = useInfiniteQuery(activityQuery(org.id, asked));
  const fresh = useTail(org.id, live);
  const rows = merged(fresh, activity.data?.pages.flatMap(({ data }) => data) ?? []);
  const filtered = Object.entries(asked).some(([name, value]) => name !== "range" && value !== "");
  return (
    <Page
      title={texts.pages.activity}
      lead={words.lead}
      actions={
        <>
          <Button
            variant={live ? "filled" : "default"}
            aria-pressed={live}
            leftSection={<Icon name={live ? "pause" : "activity"} size={16} />}
            onClick={() => setLive(!live)}
          >
            {live ? words.stop : words.live}
          </Button>
          <ButtonLink to={withQuery(api.activityCsv(org.id), asked)} reloadDocument variant="default">
            {words.csv}
          </ButtonLink>
        </>
      }
    >
      <ActivityFilters filters={filters} set={setFilters} />
      <Trouble query={activity} />
      {activity.isPending && <Loading lines={8} />}
      {activity.data !== undefined &&
        (rows.length === 0 && !filtered ? (
          <Empty
            icon="activity"
            action={<ButtonLink to={path.organization(org.id, "playground")}>{words.send}</ButtonLink>}
          >
            {words.empty}
          </Empty>
        ) : (
          <DataTable
            label={texts.pages.activity}
            rows={rows}
            rowKey={({ id }) => id}
            columns={activityColumns(org.id)}
            onOpen={({ id }) => setFilters({ req: id })}
            more={
              activity.hasNextPage
                ? { load: () => void activity.fetchNextPage(), loading: activity.isFetchingNextPage }
                : undefined
            }
          />
        ))}
      <RequestDrawer
        org={org.id}
        request={req}
        rows={rows}
        open={(id) => setFilters({ req: id })}
        onClose={() => setFilters({ req: "" })}
      />
    </Page>
  );
}

/** What the tail told is newer than what the list has; a row that changed is shown as it is now. */
function merged(fresh: readonly ActivityRow[], listed: readonly ActivityRow[]): ActivityRow[] {
  const known = new Map(fresh.map((row) => [row.id, row]));
  const changed = listed.map((row) => known.get(row.id) ?? row);
  const ids = new Set(listed.map(({ id }) => id));
  return [...fresh.filter(({ id }) => !ids.has(id)), ...changed];
}

interface FiltersProps {
  filters: Filters<typeof SHAPE>;
  set: SetFilters<typeof SHAPE>;
}

const ActivityFilters = ({ filters, set }: FiltersProps) => (
  <Group gap="sm" align="flex-end">
    <SearchField
      label={words.find}
      placeholder={words.findHint}
      w={{ base: "100%", sm: 260 }}
      value={filters.find}
      onSearch={(find) => set({ find }, { typed: true })}
    />
    <Select
      label={words.range}
      w={150}
      allowDeselect={false}
      value={filters.range}
      onChange={(value) => set({ range: SHAPE.range(value ?? undefined), from: "", to: "" })}
      data={Object.entries(texts.ranges).map(([value, label]) => ({ value, label }))}
    />
    <Select
      label={words.state}
      w={170}
      allowDeselect={false}
      value={filters.state}
      onChange={(value) => set({ state: SHAPE.state(value ?? undefined) })}
      data={[
        { value: "", label: words.all },
        ...STATES.map((value) => ({ value, label: words.states[value] })),
      ]}
    />
    <SearchField
      label={words.model}
      w={170}
      value={filters.model}
      onSearch={(model) => set({ model }, { typed: true })}
    />
    {filters.from !== "" && (
      <Button variant="subtle" onClick={() => set({ from: "", to: "" })}>
        {words.window(formatTime(filters.from), formatTime(filters.to))}
      </Button>
    )}
    {filters.key !== "" && (
      <Button variant="subtle" onClick={() => set({ key: "" })}>
        {words.everyKey}
      </Button>
    )}
  </Group>
);
