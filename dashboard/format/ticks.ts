// Chooses the ticks of a chart's axes: round amounts that need no rounding to print, and instants at which a day or a
// round hour begins. Pure: the chart measures how many fit.
import { DAY_MS, HOUR_MS } from "../../src/domain/durations.ts";
import { formatDay, formatTime } from "./time.ts";

/** Multiples of these, times a power of ten, have at most two digits, so that no formatter rounds them. */
const STEPS = [1, 2, 5] as const;
/** Amounts below a billionth do not exist. */
const SMALLEST = { money: 1e-9, count: 1 } as const;
export type Measured = keyof typeof SMALLEST;

/** From zero to the first round amount that is not below `top`, in at most this many steps. */
export function amountTicks(top: number, steps: number, measured: Measured): number[] {
  const least = Math.max(top / steps, SMALLEST[measured]);
  const power = Math.floor(Math.log10(least));
  const step = [power, power + 1]
    .flatMap((exponent) => STEPS.map((factor) => ({ factor, exponent })))
    .find((one) => product(one) >= least * (1 - 1e-9)) ?? { factor: 1, exponent: power + 1 };
  const last = Math.max(1, Math.ceil(top / product(step) - 1e-9));
  return Array.from({ length: last + 1 }, (_, at) => product({ ...step, factor: step.factor * at }));
}

/** Divides where that is exact: `3 × 10⁻¹` is 0.3, not 0.30000000000000004. */
const product = ({ factor, exponent }: { factor: number; exponent: number }): number =>
  exponent < 0 ? factor / 10 ** -exponent : factor * 10 ** exponent;

/** Gives all labels as many decimal places as the longest has, so that the points are aligned. */
export function alignPlaces(labels: readonly string[]): string[] {
  const places = (label: string): number => /\.(\d+)$/.exec(label)?.[1]?.length ?? 0;
  const most = Math.max(0, ...labels.map(places));
  return labels.map((label) =>
    /\.\d+$/.test(label) ? label.padEnd(label.length + most - places(label), "0") : label,
  );
}

/** In hours: each divides a day, so that midnight is always a tick. */
const HOURS = [1, 2, 3, 6, 12] as const;
/** In days. */
const DAYS = [1, 2, 3, 7, 14, 28, 56] as const;

export interface TimeTick {
  /** Index of the bucket. */
  at: number;
  label: string;
}

/**
 * Chooses at most `room` buckets to label, evenly spaced: round hours with the day at midnight, or days, counted back
 * from the last one, which most readers look for.
 */
export function timeTicks(starts: readonly string[], bucket: "hour" | "day", room: number): TimeTick[] {
  const times = starts.map((start) => Date.parse(start));
  const last = times.at(-1);
  if (last === undefined) return [];
  if (bucket === "hour")
    for (const step of HOURS) {
      const found = placesOf(times, (time) => time % (step * HOUR_MS) === 0);
      if (found.length > 0 && found.length <= room)
        return found.map((at) => ({ at, label: hourLabel(starts, found, at) }));
    }
  // Hourly buckets are labelled with the day where it begins.
  const end = bucket === "day" ? last : Math.floor(last / DAY_MS) * DAY_MS;
  for (const step of DAYS) {
    const found = placesOf(times, (time) => (end - time) % (step * DAY_MS) === 0);
    if (found.length <= room) return found.map((at) => ({ at, label: formatDay(starts[at] ?? "") }));
  }
  return [{ at: starts.length - 1, label: formatDay(starts.at(-1) ?? "") }];
}

const placesOf = (times: readonly number[], isNamed: (time: number) => boolean): number[] =>
  times.flatMap((time, at) => (isNamed(time) ? [at] : []));

/** The time of day; the day at midnight, and day and time if no midnight shows which day it is. */
function hourLabel(starts: readonly string[], named: readonly number[], at: number): string {
  const start = starts[at] ?? "";
  if (isMidnight(start)) return formatDay(start);
  const clock = start.slice(11, 16);
  const hasDay = named.some((one) => isMidnight(starts[one] ?? ""));
  return at === named[0] && !hasDay ? formatTime(start).replace(/:00 UTC$/, "") : clock;
}

const isMidnight = (start: string): boolean => start.slice(11, 16) === "00:00";
