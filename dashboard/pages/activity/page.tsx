// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { withQuery } from "../../api/client.ts";
import { api } from "../../api/paths.ts";
import { activityQuery } from "../../api/spend.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loading, Trouble } from "../../components/states.tsx";
import { useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { activityColumns } from "./columns.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { ActivityFilters, askedOf, isNarrowed, SHAPE } from "./filters.tsx";
import { Histogram } from "./histogram.tsx";
import { scrollToTop, useLiveRows } from "./live-rows.ts";
import { useTail } from "./tail.ts";

const words = texts.activity;
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
  const filtered = isNarrowed(filters) || filters.from !== "" || filters.to !== "";
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
      <ActivityFilters org={org.id} filters={filters} set={setFilters} />
      {filters.find === "" && <Histogram org={org.id} asked={asked} live={live} pick={setFilters} />}
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
