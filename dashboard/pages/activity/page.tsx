// Every request of the organization, refusals and replays included, newest first; a row opens the drawer beside it.
import { Alert, Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { moreOf, readPages } from "../../api/read.ts";
import { addressOf } from "../../api/routes.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loading, Trouble } from "../../components/states.tsx";
import { useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { activityTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { activityColumns } from "./columns.tsx";
import { RequestDrawer } from "./drawer.tsx";
import { ActivityFilters, askedOf, isNarrowed, SHAPE } from "./filters.tsx";
import { Histogram } from "./histogram.tsx";
import { scrollToTop, useLiveRows } from "./live-rows.ts";
import { useTail } from "./tail.ts";

export function ActivityPage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const asked = askedOf(filters);
  const activity = useInfiniteQuery(readPages("GET /orgs/{org}/activity", { org: org.id }, asked));
  const live = filters.live !== "";
  const tail = useTail(org.id, { on: live, key: filters.key, model: filters.model });
  const { rows, waiting } = useLiveRows(tail.rows, activity.data ?? [], {
    state: filters.state,
    surface: filters.surface,
    code: filters.code,
    grows: filters.find === "" && filters.from === "" && filters.to === "",
  });
  const filtered = isNarrowed(filters) || filters.from !== "" || filters.to !== "";
  return (
    <Page
      title={pageNames.activity}
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
          <ButtonLink
            to={addressOf("GET /orgs/{org}/activity.csv", { org: org.id }, asked)}
            reloadDocument
            variant="default"
          >
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
      {tail.refused && (
        <Alert color="yellow" variant="light" role="status">
          {words.crowded}
        </Alert>
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
            label={pageNames.activity}
            rows={rows}
            rowKey={({ id }) => id}
            columns={activityColumns(org.id)}
            onOpen={({ id }) => setFilters({ req: id })}
            more={moreOf(activity)}
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
