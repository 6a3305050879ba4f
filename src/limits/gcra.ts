// The generic cell rate algorithm: one instant says all about a limit per minute, the theoretical arrival time (TAT), when
// everything taken so far would have run off at the limit's pace. What is idle may take a whole minute's worth at once; over
// any stretch no more passes than that and the stretch's own. Times are microseconds, whole numbers.

const MINUTE_US = 60_000_000;
const US_PER_MS = 1000;

/** Nobody gets further ahead than a minute. What says so is damaged, or of a clock that was ahead until it was set back. */
const AHEAD_AT_MOST_US = 2 * MINUTE_US;

/** A TAT as far as it can be believed; what cannot be has taken nothing, so that it shuts nobody out. */
export const soundTat = (tat: number, nowUs: number): number =>
  tat >= 0 && tat <= nowUs + AHEAD_AT_MOST_US ? tat : 0;

export const microseconds = (ms: number): number => ms * US_PER_MS;

/** For how long so many fill a limit; rounded up, so that a limit is never passed by rounding. */
export const costUs = (amount: number, perMinute: number): number =>
  Math.ceil((amount * MINUTE_US) / perMinute);

/** The TAT once so many more were taken. */
export const takenAt = (tat: number, nowUs: number, cost: number): number => Math.max(tat, nowUs) + cost;

/** Until so many fit, milliseconds: 0 now, null never. */
export function waitMs(tat: number, nowUs: number, cost: number): number | null {
  if (cost > MINUTE_US) return null;
  const over = takenAt(tat, nowUs, cost) - nowUs - MINUTE_US;
  return over <= 0 ? 0 : Math.ceil(over / US_PER_MS);
}

/** How many more would be let in now. */
export const remainingAt = (tat: number, nowUs: number, perMinute: number): number =>
  Math.max(0, Math.floor(((nowUs + MINUTE_US - Math.max(tat, nowUs)) * perMinute) / MINUTE_US));

/** Until all of the limit is free again, milliseconds. */
export const resetMs = (tat: number, nowUs: number): number =>
  Math.max(0, Math.ceil((tat - nowUs) / US_PER_MS));

/** The TAT after so much was given back, but never below what was used for certain; and never above what it was. */
export const givenBack = (tat: number, cost: number, usedTat: number): number =>
  Math.min(tat, Math.max(tat - cost, usedTat));

/**
 * The TAT under another limit: what was taken stays taken. Nobody waits for longer than a minute for what a higher limit
 * once let in.
 */
export function rescaled(tat: number, nowUs: number, { from, to }: { from: number; to: number }): number {
  if (tat <= nowUs) return tat;
  return nowUs + Math.min(MINUTE_US, Math.ceil(((tat - nowUs) * from) / to));
}
