// The generic cell rate algorithm. The state of a per-minute limit is one instant, the theoretical arrival time (TAT): when
// everything taken so far would have drained at the limit's rate. An idle limit allows a full minute's worth at once; over any
// period, no more than that plus the period's own amount passes. Times are whole microseconds.

const MINUTE_US = 60_000_000;
const US_PER_MS = 1000;

/** No TAT is more than a minute ahead. One that is further ahead is damaged, or comes from a clock that was set back since. */
const AHEAD_AT_MOST_US = 2 * MINUTE_US;

/** Returns the TAT, or 0 (nothing taken) for an implausible one, so that it shuts nobody out. */
export const soundTat = (tat: number, nowUs: number): number =>
  tat >= 0 && tat <= nowUs + AHEAD_AT_MOST_US ? tat : 0;

export const microseconds = (ms: number): number => ms * US_PER_MS;

/** The time that the amount takes at the limit's rate, rounded up so that rounding never exceeds the limit. */
export const costUs = (amount: number, perMinute: number): number =>
  Math.ceil((amount * MINUTE_US) / perMinute);

/** The TAT after taking `cost` more. */
export const takenAt = (tat: number, nowUs: number, cost: number): number => Math.max(tat, nowUs) + cost;

/** Milliseconds until `cost` fits: 0 if it fits now, null if it never does. */
export function waitMs(tat: number, nowUs: number, cost: number): number | null {
  if (cost > MINUTE_US) return null;
  const over = takenAt(tat, nowUs, cost) - nowUs - MINUTE_US;
  return over <= 0 ? 0 : Math.ceil(over / US_PER_MS);
}

/** How many more fit now. */
export const remainingAt = (tat: number, nowUs: number, perMinute: number): number =>
  Math.max(0, Math.floor(((nowUs + MINUTE_US - Math.max(tat, nowUs)) * perMinute) / MINUTE_US));

/** Milliseconds until the whole limit is free again. */
export const resetMs = (tat: number, nowUs: number): number =>
  Math.max(0, Math.ceil((tat - nowUs) / US_PER_MS));

/** The TAT after giving `cost` back: never below what is known to be used, never above the current TAT. */
export const givenBack = (tat: number, cost: number, usedTat: number): number =>
  Math.min(tat, Math.max(tat - cost, usedTat));

/**
 * Converts a TAT to another limit: what was taken stays taken. The wait for what a higher limit once let in is at most a
 * minute.
 */
export function rescaled(tat: number, nowUs: number, { from, to }: { from: number; to: number }): number {
  if (tat <= nowUs) return tat;
  return nowUs + Math.min(MINUTE_US, Math.ceil(((tat - nowUs) * from) / to));
}
