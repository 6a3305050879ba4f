// The time an organization's rows are stamped with: the wall clock, lifted to the organization's newest stamp if
// the clock was set back a little, so that stamps and months never run backward for a leap second (money.md §2).
import { HOUR_MS } from "../domain/durations.ts";

export const LIFT_AT_MOST_MS = HOUR_MS;

/** In milliseconds. If the clock is more than an hour behind, it is believed and the store raises an alarm. */
export function stampOf(nowMs: number, newestMs: number): number {
  return newestMs - nowMs > LIFT_AT_MOST_MS ? nowMs : Math.max(nowMs, newestMs);
}
