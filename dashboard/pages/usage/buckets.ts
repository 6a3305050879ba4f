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
  /** The name of each series; all distinct. */
  series: Series[];
  /** The group of each series; the sum of all others has none. */
  groups: Usage["rows"];
  buckets: Bucket[];
  /** Label of the current, incomplete bucket. */
  running: string | undefined;
  /** The start of each bucket, by its label in the chart. */
  startOf: ReadonlyMap<string, string>;
  /** Usage per bucket, as text; buckets without any usage are left out. */
  rows: { label: string; figures: string[] }[];
}

/** The chart of usage, a series for each group; `cumulative`: each bucket includes all before it. */
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

/** The series of each group that has one, and of all others together. */
export const allSeries = ({ series, others_series }: Usage): Usage["series"][number]["figures"][] => [
  ...series.map(({ figures }) => figures),
  ...(others_series === null ? [] : [others_series]),
];

/** Keys and members may share a name: such groups are distinguished by the end of their ids. */
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

/** Counts are decimal strings, too, while they are added up. */
const decimalOf = (figures: Figures | undefined, measure: Measure): string =>
  figures === null || figures === undefined ? NOTHING : String(figures[measure]);

const textOf = (amount: string, measure: Measure): string =>
  measure === "charge_usd" ? exactMoney(amount) : formatCount(heightOf(amount));
