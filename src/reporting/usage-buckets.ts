// Divides windows into buckets: whole hours up to a week, whole days beyond, UTC; at most 400, the newest.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { type RawBuilder, sql as fragment } from "kysely";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { type AskedWindow, dayOf, type Window, windowOf } from "./windows.ts";

const HOURLY_UP_TO_MS = 7 * DAY_MS;
const BUCKETS_MAX = 400;

/** Equal buckets from `fromMs` to `toMs`, both on a bucket boundary. */
export interface Buckets extends Window {
  bucketMs: number;
  unit: "hour" | "day";
  /** The start of the running bucket, if it is among them. */
  runningMs: number | null;
}

/** Whole buckets: `from` rounded down, `to` up; with the window itself, cut to what they show. */
export function bucketsOf(asked: AskedWindow, nowMs: number): { window: Window; buckets: Buckets } {
  const window = windowOf(asked, nowMs);
  const hourly = window.toMs - window.fromMs <= HOURLY_UP_TO_MS;
  const bucketMs = hourly ? HOUR_MS : DAY_MS;
  const toMs = Math.ceil(window.toMs / bucketMs) * bucketMs;
  const startMs = hourly ? Math.floor(window.fromMs / HOUR_MS) * HOUR_MS : dayOf(window.fromMs);
  const fromMs = Math.max(startMs, toMs - BUCKETS_MAX * bucketMs);
  const running = fromMs + Math.floor((nowMs - fromMs) / bucketMs) * bucketMs;
  return {
    window: { fromMs: Math.max(window.fromMs, fromMs), toMs: window.toMs },
    buckets: {
      fromMs,
      toMs,
      bucketMs,
      unit: hourly ? "hour" : "day",
      runningMs: nowMs >= fromMs && nowMs < toMs ? running : null,
    },
  };
}

/** The first instant of each bucket, in milliseconds. */
export const startsOf = ({ fromMs, toMs, bucketMs }: Buckets): number[] =>
  Array.from({ length: Math.ceil((toMs - fromMs) / bucketMs) }, (_, i) => fromMs + i * bucketMs);

/** The number of a row's bucket. Integer division truncates in both stores. */
export const bucketOf = (
  column: "hour" | "admitted_at" | "at",
  from: number,
  size: number,
): RawBuilder<bigint> =>
  fragment<bigint>`(${fragment.ref(column)} - ${fragment.lit(from)}) / ${fragment.lit(size)}`;

/** The description of buckets for every chart over time (`buckets` in `api/shapes/fields.ts`). */
export const printBuckets = ({ fromMs, toMs, unit, runningMs }: Buckets) => ({
  from: printTime(fromMs),
  to: printTime(toMs),
  bucket: unit,
  running_bucket: printTimeOrNull(runningMs),
});
