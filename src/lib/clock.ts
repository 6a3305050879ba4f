// The two clocks, as a port: wall time for stamps and months, monotonic time for deadlines. money.md §2.
import { DAY_MS } from "../domain/durations.ts";

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Monotonic milliseconds; only differences are meaningful. */
  monotonicMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** The UTC calendar month of an instant, `YYYY-MM`: the month that a request's spend is booked to. */
export function utcMonth(ms: number): string {
  if (!(ms >= month.fromMs && ms < month.untilMs)) month = monthAt(ms);
  return month.name;
}

/** The month of the last call: nearly all requests share it. */
let month = { fromMs: 0, untilMs: 0, name: "" };

const monthAt = (ms: number): typeof month => {
  const date = new Date(ms);
  return {
    fromMs: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
    untilMs: nextUtcMonth(ms),
    name: date.toISOString().slice(0, 7),
  };
};

/** The first instant of the month after `ms`, in milliseconds. */
export function nextUtcMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Days since the Unix epoch, in UTC. */
export const utcDay = (ms: number): number => Math.floor(ms / DAY_MS);

/** The Monday of a day's week; the epoch was a Thursday. */
export const weekOf = (day: number): number => day - ((day + 3) % 7);
