// The chart in one sentence: the total, the largest group, and the trend.
import type { Answer } from "../../api/routes.ts";
import { formatCount } from "../../format/count.ts";
import {
  addMoney,
  compareMoney,
  formatMoney,
  heightOf,
  isZero,
  percentOf,
  subMoney,
} from "../../format/money.ts";
import { usageTexts } from "./texts.ts";
import { allSeries, distinctLabels, type Measure } from "./buckets.ts";

type Usage = Answer<"GET /orgs/{org}/usage">;

const words = usageTexts.summary;
const NOTHING = "0.000000000";

export function summaryOf(usage: Usage, measure: Measure, range: string): string {
  const of = (figures: Record<Measure, number | string>): string => String(figures[measure]);
  const total = of(usage.total);
  const printed = measure === "charge_usd" ? formatMoney(total) : formatCount(usage.total[measure]);
  const labels = distinctLabels(usage.rows);
  const largest = usage.rows.reduce(
    (best, row, at) => (compareMoney(of(row), best.amount) > 0 ? { amount: of(row), at } : best),
    { amount: NOTHING, at: -1 },
  );
  // The rows are the groups with the highest cost: by another measure one of the others may be larger.
  const hidden = usage.others === null ? NOTHING : of(usage.others);
  return [
    words.total(printed, range),
    ...(largest.at === -1 || usage.rows.length < 2 || compareMoney(hidden, largest.amount) > 0
      ? []
      : [words.largest(labels[largest.at] ?? "", share(largest.amount, total))]),
    ...trendOf(usage, of),
  ].join("; ");
}

const share = (part: string, whole: string): string => `${Math.round(percentOf(part, whole))} %`;

/** Compares the halves of the completed buckets; a running bucket would always look like a drop. */
function trendOf(usage: Usage, of: (figures: Usage["total"]) => string): string[] {
  const over = usage.at.filter(
    (start) => usage.running_bucket === null || start < usage.running_bucket,
  ).length;
  const sum = (from: number, to: number): string =>
    allSeries(usage)
      .flatMap((figures) => figures.slice(from, to))
      .reduce((total, one) => (one === null ? total : addMoney(total, of(one))), NOTHING);
  const half = Math.floor(over / 2);
  const [first, second] = [sum(over - 2 * half, over - half), sum(over - half, over)];
  if (isZero(first)) return isZero(second) ? [] : [words.trend.begins];
  const difference = subMoney(second, first);
  if (isZero(difference)) return [words.trend.same];
  const rises = compareMoney(second, first) > 0;
  const size = rises ? difference : subMoney(first, second);
  const percent = formatCount(Math.round((heightOf(size) / heightOf(first)) * 100));
  return [rises ? words.trend.more(`${percent} %`) : words.trend.less(`${percent} %`)];
}
