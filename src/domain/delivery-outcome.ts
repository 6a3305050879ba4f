// What came of a message that was just sent, as whoever waits for it reads its delivery (docs/alerts.md).

interface Tried {
  state: "waiting" | "delivered" | "failed";
  /** Of the last try, when it failed. */
  reason: string | null;
}

/** It arrived; its receiver did not take it this time, and is tried again; it is given up; or nothing is known yet. */
type DeliveryOutcome = "delivered" | "tried_again" | "failed" | "unknown";

export function outcomeOf({ state, reason }: Tried): DeliveryOutcome {
  if (state !== "waiting") return state;
  return reason === null ? "unknown" : "tried_again";
}

/** A turn comes every two seconds, a try takes ten at most; others of the organization may be before it. */
export const OUTCOME_WITHIN_MS = 30_000;
