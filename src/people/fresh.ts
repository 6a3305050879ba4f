// The maximum age of a sign-in for changes of money, keys, people and passkeys (dashboard.md §8). Both start
// and age use the store's clock, so that all gateways of one database agree.
import { HOUR_MS } from "../domain/durations.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";

const FRESH_MS = 12 * HOUR_MS;
/** Tolerance for small corrections of the clock. */
const BACK_MS = 60_000;

/**
 * True if the session began recently enough. If it begins in the future, the clock was set back and its age
 * is unknown.
 */
export function isFresh(createdAtMs: number, nowMs: number): boolean {
  const ageMs = nowMs - createdAtMs;
  return ageMs >= -BACK_MS && ageMs <= FRESH_MS;
}

export const tooOld = (): OperatorRefusal =>
  new OperatorRefusal(
    "sign_in_again",
    "Your sign-in is older than 12 hours. Sign in again, then repeat this.",
  );
