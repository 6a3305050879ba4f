// The list with its filters and its chart: one page of rows at a time, which the address names.
import { Alert, Button } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useEffect, useMemo } from "react";
import type { Query } from "../../api/client.ts";
import { readFound } from "../../api/read.ts";
import { addressOf, type Row } from "../../api/routes.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { FileLink } from "../../components/link.tsx";
import { PageButton } from "../../components/page-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Former, Loading, Trouble } from "../../components/states.tsx";
import { pageNames } from "../../components/texts.ts";
import { type Filters, type SetFilters, stringifySearch } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { path } from "../../path-builder.ts";
import { activityColumns } from "./columns.tsx";
import { ColumnChooser, useColumns } from "./column-chooser.tsx";
import { ActivityFilters, askedOf, isNarrowed, SHAPE } from "./filters.tsx";
import { Histogram, histogramOf } from "./histogram.tsx";
import { scrollToTop, useLiveRows } from "./live-rows.ts";
import { Older } from "./older.tsx";
import { useTail } from "./tail.ts";
import { activityTexts as words } from "./texts.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;
type Listed = Omit<Filters<typeof SHAPE>, "req">;

const ROWS = 100;
const NONE: readonly ActivityRow[] = [];

interface ListProps {
  org: string;
  person: string;
  filters: Listed;
  set: SetFilters<typeof SHAPE>;
  /** Gets the rows that are shown, for the arrows of the drawer. */
  onRows: (rows: readonly ActivityRow[]) => void;
}

export const ActivityList = memo(function ActivityList({ org, person, filters, set, onRows }: ListProps) {
  const { before } = filters;
  const asked = useMemo(() => askedOf(filters), [filters]);
  const page = { ...asked, limit: String(ROWS), ...(before !== "" && { cursor: before }) };
  const activity = useQuery({
    ...readFound("GET /orgs/{org}/activity", { org }, page),
    placeholderData: keepPreviousData,
  });
  const isCounted = filters.find === "";
  usePrefetchedHistogram(org, isCounted ? asked : null);
  const live = filters.live !== "";
  const tail = useTail(org, { on: live, key: filters.key, model: filters.model });
  const { rows, waiting } = useLiveRows(tail.rows, activity.data?.data ?? NONE, {
    state: filters.state,
    surface: filters.surface,
    code: filters.code,
    grows: filters.find === "" && filters.from === "" && filters.to === "" && before === "",
  });
  useEffect(() => onRows(rows), [rows, onRows]);
  const [chosen, choose] = useColumns(person);
  const columns = useMemo(() => {
    const addressed = (id: string): string =>
      path.organization(org, "activity") + stringifySearch({ ...unlessUsual(filters), req: id });
    return activityColumns({ chosen, addressOf: addressed, open: (id) => set({ req: id }) });
  }, [chosen, filters, org, set]);
  const filtered = isNarrowed(filters) || filters.from !== "" || filters.to !== "";
  const isUnfinished = (activity.data?.searched_to ?? null) !== null;
  return (
    <Page
      title={pageNames.activity}
      lead={words.lead}
      actions={
        <>
          <ColumnChooser chosen={chosen} choose={choose} />
          <LiveButton live={live} onClick={() => set((now) => ({ live: now.live === "" ? "true" : "" }))} />
          <FileLink to={addressOf("GET /orgs/{org}/activity.csv", { org }, asked)}>{words.csv}</FileLink>
        </>
      }
    >
      <ActivityFilters org={org} filters={filters} set={set} />
      {isCounted && <Histogram org={org} asked={asked} live={live} pick={set} />}
      {waiting > 0 && (
        <Button className="overlay" size="compact-sm" onClick={scrollToTop}>
          {words.waiting(formatCount(waiting))}
        </Button>
      )}
      {tail.crowded && (
        <Alert color="yellow" variant="light" role="status">
          {words.crowded}
        </Alert>
      )}
      <Trouble query={activity} />
      {activity.isPending && <Loading lines={8} />}
      {activity.data !== undefined && (
        <Former query={activity}>
          {rows.length === 0 && !filtered && before === "" ? (
            <Empty icon="activity" action={<PageButton page="playground">{words.send}</PageButton>}>
              {words.empty}
            </Empty>
          ) : rows.length === 0 && isUnfinished ? null : (
            <DataTable
              label={pageNames.activity}
              rows={rows}
              rowKey={idOf}
              columns={columns}
              onOpen={({ id }) => set({ req: id })}
              dense
            />
          )}
        </Former>
      )}
      <Older before={before} of={activity.data} busy={activity.isPlaceholderData} set={set} />
    </Page>
  );
});

/** Requested together with the rows, not when the chart is rendered, which is after the rows arrive. */
function usePrefetchedHistogram(org: string, asked: Query | null): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (asked !== null) void queries.prefetchQuery(histogramOf(org, asked));
  }, [queries, org, asked]);
}

const LiveButton = ({ live, onClick }: { live: boolean; onClick: () => void }) => (
  <Button
    variant={live ? "filled" : "default"}
    aria-pressed={live}
    leftSection={<Icon name={live ? "pause" : "activity"} size={16} />}
    onClick={onClick}
  >
    {live ? words.stop : words.live}
  </Button>
);

const idOf = ({ id }: ActivityRow): string => id;

/** The values for the address: defaults are left out. */
const unlessUsual = (filters: Listed): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).filter(([name, value]) => value !== SHAPE[name as keyof Listed](undefined)),
  );
