// The number of requests per state over time: above the rows, with the same filter; clicking a bar narrows the rows
// to its bucket.
import { Skeleton } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ActivityState } from "../../../src/domain/activity-states.ts";
import { read } from "../../api/read.ts";
import type { Query } from "../../api/client.ts";
import type { Answer } from "../../api/routes.ts";
import type { Bucket } from "../../components/chart.tsx";
import { Figure } from "../../components/figure.tsx";
import { CountTable } from "../../components/series-table.tsx";
import { Former, Trouble } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { bucketLabel } from "../../format/time.ts";
import { activityTexts as words } from "./texts.ts";
import { activityStateNames, figureTexts } from "../../components/texts.ts";

/** A state has the same colour on every page; never red against green. */
const COLOURS: Record<ActivityState, string> = {
  settled: "indigo.6",
  cut_short: "orange.5",
  running: "cyan.5",
  released: "gray.5",
  outcome_unknown: "pink.5",
  refused: "yellow.5",
  replay: "grape.3",
};

const COUNTED_EVERY_MS = 5_000;
const CHART_HEIGHT = 150;
/** With its title, its names and its frame. */
const FIGURE_HEIGHT = 272;

interface HistogramProps {
  org: string;
  asked: Query;
  live: boolean;
  pick: (bucket: { from: string; to: string }) => void;
}

export const histogramOf = (org: string, asked: Query) =>
  read("GET /orgs/{org}/activity/histogram", { org }, asked);

export function Histogram({ org, asked, live, pick }: HistogramProps) {
  const counts = useQuery({
    ...histogramOf(org, asked),
    placeholderData: keepPreviousData,
    refetchInterval: live ? COUNTED_EVERY_MS : false,
  });
  // As high as the chart, so that nothing below it moves.
  if (counts.isPending) return <Skeleton height={FIGURE_HEIGHT} />;
  return (
    <>
      <Trouble query={counts} />
      {counts.data !== undefined && (
        <Former query={counts} quiet>
          <Counted of={counts.data} pick={pick} />
        </Former>
      )}
    </>
  );
}

function Counted({
  of: data,
  pick,
}: {
  of: Answer<"GET /orgs/{org}/activity/histogram">;
  pick: HistogramProps["pick"];
}) {
  const states = data.states.filter(({ counts }) => counts.some((count) => count > 0));
  if (states.length === 0) return null;
  const labels = data.at.map((start) => bucketLabel(start, data.bucket));
  const rows = labels.map((label, at) => ({ label, counts: states.map(({ counts }) => counts[at] ?? 0) }));
  const buckets: Bucket[] = rows.map(({ label, counts }, at) => ({
    label,
    start: data.at[at] ?? "",
    values: counts.map((count) => (counts.every((one) => one === 0) ? null : count)),
  }));
  const running = data.running_bucket;
  return (
    <Figure
      title={`${words.histogram}, ${figureTexts.buckets[data.bucket]}`}
      summary={states
        .map(({ state, counts }) => `${formatCount(sumOf(counts))} ${activityStateNames[state]}`)
        .join(" · ")}
      series={states.map(({ state }) => ({ name: activityStateNames[state], colour: COLOURS[state] }))}
      buckets={buckets}
      bucket={data.bucket}
      running={running === null ? undefined : bucketLabel(running, data.bucket)}
      height={CHART_HEIGHT}
      measured="count"
      onPick={(label) => {
        const at = labels.indexOf(label);
        const from = data.at[at];
        if (from !== undefined) pick({ from, to: data.at[at + 1] ?? data.to });
      }}
      table={
        <CountTable
          label={words.histogram}
          names={states.map(({ state }) => activityStateNames[state])}
          rows={rows}
        />
      }
    />
  );
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
