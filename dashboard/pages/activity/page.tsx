// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { Button, Group, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type Query, withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { activityQuery } from "../../api/spend.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loading, Trouble } from "../../components/states.tsx";
import { askedWindow, TimeWindow, windowShape } from "../../components/time-window.tsx";
import { type Filters, oneOf, type SetFilters, text, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { formatTime } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { activityColumns } from "./columns.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { scrollToTop, useLiveRows } from "./live-rows.ts";
import { useTail } from "./tail.ts";

const words = texts.activity;
const STATES = ["running", "settled", "released", "outcome_unknown", "refused", "replay"] as const;
const SHAPE = {
  ...windowShape("7d"),
  state: oneOf(["", ...STATES], ""),
  model: text(),
  key: text(),
  code: text(),
  live: oneOf(["", "true"], ""),
  find: text(),
  req: text(),
};

export function ActivityPage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const asked = askedOf(filters);
  const activity = useInfiniteQuery(activityQuery(org.id, asked));
  const live = filters.live !== "";
  const fresh = useTail(org.id, { on: live, key: filters.key, model: filters.model });
  const { rows, waiting } = useLiveRows(fresh, activity.data?.pages.flatMap(({ data }) => data) ?? [], {
    state: filters.state,
    code: filters.code,
    grows: filters.find === "" && filters.from === "" && filters.to === "",
  });
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
            onClick={() => setFilters({ live: live ? "" : "true" })}
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
      {waiting > 0 && (
        <Button className="waiting-rows" size="compact-sm" onClick={scrollToTop}>
          {words.waiting(formatCount(waiting))}
        </Button>
      )}
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
        request={filters.req}
        rows={rows}
        open={(id) => setFilters({ req: id })}
        onClose={() => setFilters({ req: "" })}
      />
    </Page>
  );
}

/** A search goes through all time: whoever has an id rarely knows its day. */
function askedOf(filters: Filters<typeof SHAPE>): Query {
  const { state, model, key, code, find } = filters;
  const others = { state, model, key, code };
  return find === "" ? { ...askedWindow(filters), ...others } : { find, ...others };
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
    <TimeWindow filters={filters} set={set} />
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
