// Spend, requests and tokens over time and by group: a chart, its table, a CSV, all of the same time range in the
// address.
import { SimpleGrid } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { read } from "../../api/read.ts";
import { type Answer, addressOf } from "../../api/routes.ts";
import { Money } from "../../components/figures.tsx";
import { Figure } from "../../components/figure.tsx";
import { FileLink } from "../../components/link.tsx";
import { PageButton } from "../../components/page-button.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Tile } from "../../components/tile.tsx";
import { askedWindow, windowName } from "../../components/time-window.tsx";
import { useFilters } from "../../filters.ts";
import { formatCount, shortCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { figureTexts, pageNames, tableTexts } from "../../components/texts.ts";
import { usageTexts as words } from "./texts.ts";
import { usageChartOf } from "./buckets.ts";
import { ChartTable } from "./chart-table.tsx";
import { ClearFilters, isNarrowed, SHAPE, UsageFilters, type UsageShape } from "./filters.tsx";
import { Groups } from "./groups.tsx";
import { HoldUse } from "./hold-use.tsx";
import { SavingsPart } from "./savings.tsx";
import { summaryOf } from "./summary.ts";
import { Views } from "./views.tsx";

type Usage = Answer<"GET /orgs/{org}/usage">;

export function UsagePage() {
  const { org } = useMembership();
  const [filters, setFilters] = useFilters(SHAPE);
  const { group_by, then_by, key, model } = filters;
  const asked = { ...askedWindow(filters), group_by, then_by, key, model };
  const usage = useQuery(read("GET /orgs/{org}/usage", { org: org.id }, asked));
  return (
    <Page
      title={pageNames.usage}
      lead={words.lead}
      actions={
        <>
          <Views org={org.id} filters={filters} />
          <FileLink to={addressOf("GET /orgs/{org}/usage.csv", { org: org.id }, asked)}>{words.csv}</FileLink>
        </>
      }
    >
      <UsageFilters org={org.id} filters={filters} set={setFilters} />
      <Loaded query={usage}>
        {(data) =>
          data.total.requests === 0 ? (
            <Empty
              icon="usage"
              action={
                isNarrowed(filters) ? (
                  <ClearFilters set={setFilters} />
                ) : (
                  <PageButton page="playground">{words.send}</PageButton>
                )
              }
            >
              {isNarrowed(filters) ? tableTexts.noMatch : words.empty}
            </Empty>
          ) : (
            <Used of={data} org={org.id} filters={filters} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Used({ of, org, filters }: { of: Usage; org: string; filters: UsageShape }) {
  const { measure, key, model } = filters;
  const navigate = useNavigate();
  const chart = usageChartOf(of, measure, { cumulative: filters.cumulative !== "" });
  const activity = path.organization(org, "activity");
  const narrowed = { ...(key !== "" && { key }), ...(model !== "" && { model }) };
  const openBar = (label: string, series: number | null): void => {
    const at = of.at.indexOf(chart.startOf.get(label) ?? "");
    const from = of.at[at];
    const row = series === null ? undefined : chart.groups[series];
    const group = row === undefined ? {} : knownFilters(of, [row.group, row.second]);
    if (from !== undefined)
      void navigate({ to: activity, search: { ...narrowed, ...group, from, to: of.at[at + 1] ?? of.to } });
  };
  return (
    <>
      <Totals of={of.total} />
      <Figure
        title={`${words.titles[measure]}, ${figureTexts.buckets[of.bucket]}`}
        summary={`${summaryOf(of, measure, windowName(filters))}. ${words.picked}`}
        series={chart.series}
        buckets={chart.buckets}
        bucket={of.bucket}
        running={chart.running}
        measured={measure === "charge_usd" ? "money" : "count"}
        table={<ChartTable of={chart} />}
        onPick={openBar}
      />
      <Groups
        of={of}
        activity={activity}
        requestsOf={({ group, second }) => {
          const search = filterOf(of, [group, second]);
          return search === null ? null : { ...narrowed, ...search, ...askedWindow(filters) };
        }}
      />
      <HoldUse org={org} asked={{ ...askedWindow(filters), ...narrowed }} />
      <SavingsPart org={org} asked={{ ...askedWindow(filters), ...narrowed }} />
    </>
  );
}

type Place = readonly [group: string | null, second: string | null];

/** Activity's filters for a group: model and key. */
function knownFilters({ group_by, then_by }: Usage, [group, second]: Place): Record<string, string> {
  const search: Record<string, string> = {};
  if ((group_by === "model" || group_by === "key") && group !== null) search[group_by] = group;
  if ((then_by === "model" || then_by === "key") && second !== null) search[then_by] = second;
  return search;
}

/** Null if Activity has no filter for just this group. */
function filterOf(of: Usage, place: Place): Record<string, string> | null {
  const search = knownFilters(of, place);
  const asked = [of.group_by, of.then_by].filter((by) => by !== null);
  return asked.every((by) => by in search) ? search : null;
}

const Totals = ({ of }: { of: Usage["total"] }) => (
  <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "xs", sm: "md" }}>
    <Tile title={words.measures.charge_usd}>
      <Money usd={of.charge_usd} />
    </Tile>
    <Tile title={words.measures.requests}>{formatCount(of.requests)}</Tile>
    <Tile
      title={words.measures.input_tokens}
      note={words.cached(
        shortCount(of.cached_tokens),
        of.cache_write_tokens === 0 ? null : shortCount(of.cache_write_tokens),
      )}
    >
      {shortCount(of.input_tokens)}
    </Tile>
    <Tile title={words.measures.output_tokens}>{shortCount(of.output_tokens)}</Tile>
  </SimpleGrid>
);
