// The same figures twice: as heights for the chart, where a float is enough, and to the last digit for its table.
import type { Answer } from "../../api/routes.ts";
import type { Bucket, Series } from "../../components/chart.tsx";
import { coloursOf } from "../../components/series-colours.ts";
import { formatCount } from "../../format/count.ts";
import { addMoney, exactMoney, heightOf, isZero } from "../../format/money.ts";
import { bucketLabel } from "../../format/time.ts";
import { usageTexts } from "./texts.ts";

type Usage = Answer<"GET /orgs/{org}/usage">;

export const MEASURES = [
  "charge_usd",
  "requests",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
] as const;
export type Measure = (typeof MEASURES)[number];

const NOTHING = "0.000000000";

export interface UsageChart {
  /** What each series is called; unlike among themselves. */
  series: Series[];
  /** Whose each series is; the one of all others is nobody's. */
  groups: Usage["rows"];
  buckets: Bucket[];
  /** Label of the bucket that is not over. */
  running: string | undefined;
  /** The start of each bucket, by what the chart calls it. */
  startOf: ReadonlyMap<string, string>;
  /** What was used, bucket by bucket, as text; buckets without any use are left out. */
  rows: { label: string; figures: string[] }[];
}

/** The chart of what was used, a series for each group; `cumulative`: each bucket with all before it. */
export function usageChartOf(usage: Usage, measure: Measure, { cumulative = false } = {}): UsageChart {
  const groups = usage.rows.slice(0, usage.series.length);
  const names = distinctLabels(usage.rows).slice(0, groups.length);
  const drawn = allSeries(usage);
  const shownNames = usage.others_series === null ? names : [...names, usageTexts.other];
  const colours = coloursOf(shownNames, usageTexts.other);
  const series = shownNames.map((name, at) => ({ name, colour: colours[at] ?? "" }));
  const sums = series.map(() => NOTHING);
  const chart: UsageChart = { series, groups, buckets: [], running: undefined, startOf: new Map(), rows: [] };
  const starts = new Map<string, string>();
  for (const [at, start] of usage.at.entries()) {
    const label = bucketLabel(start, usage.bucket);
    const amounts = drawn.map((figures) => decimalOf(figures[at], measure));
    for (const [one, amount] of amounts.entries()) sums[one] = addMoney(sums[one] ?? NOTHING, amount);
    const shown = cumulative ? [...sums] : amounts;
    const isUsed = drawn.some((figures) => figures[at] !== null);
    starts.set(label, start);
    if (start === usage.running_bucket) chart.running = label;
    chart.buckets.push({
      label,
      start,
      values: shown.map((amount) => (isUsed || (cumulative && !isZero(amount)) ? heightOf(amount) : null)),
    });
    if (isUsed) chart.rows.push({ label, figures: shown.map((amount) => textOf(amount, measure)) });
  }
  return { ...chart, startOf: starts };
}

/** Of each group that has one, and of all others together. */
export const allSeries = ({ series, others_series }: Usage): Usage["series"][number]["figures"][] => [
  ...series.map(({ figures }) => figures),
  ...(others_series === null ? [] : [others_series]),
];

/** Keys and members may share a name: such groups are told apart by the end of their ids. */
export function distinctLabels(
  rows: readonly Pick<Usage["rows"][number], "label" | "group" | "second">[],
): string[] {
  const times = new Map<string, number>();
  for (const { label } of rows) times.set(label, (times.get(label) ?? 0) + 1);
  return rows.map(({ label, group, second }) => {
    if (times.get(label) === 1) return label;
    return [label, ...[group, second].flatMap((id) => (id === null ? [] : id.slice(-4)))].join(" … ");
  });
}

type Figures = Usage["series"][number]["figures"][number];

/** Counts are decimal strings too while they are added up. */
const decimalOf = (figures: Figures | undefined, measure: Measure): string =>
  figures === null || figures === undefined ? NOTHING : String(figures[measure]);

const textOf = (amount: string, measure: Measure): string =>
  measure === "charge_usd" ? exactMoney(amount) : formatCount(heightOf(amount));
