// How old a sign-in may be for changes of money, keys, people and passkeys (dashboard.md §8). Beginning and age are of the store's
// clock, so that no gateway of one database finds it older than another one does.
import { HOUR_MS } from "../domain/durations.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";

const FRESH_MS = 12 * HOUR_MS;
/** Between two looks at a clock that is set right by a little. */
const BACK_MS = 60_000;

/** Whether it began so short ago. One that has yet to begin is of no known age: somebody put the clock back since. */
export function isFresh(createdAtMs: number, nowMs: number): boolean {
  const ageMs = nowMs - createdAtMs;
  return ageMs >= -BACK_MS && ageMs <= FRESH_MS;
}

export const tooOld = (): OperatorRefusal =>
  new OperatorRefusal(
    "sign_in_again",
    "Your sign-in is older than 12 hours. Sign in again, then repeat this.",
  );
