// The outcome of a message that was just sent, as read from its delivery by the caller that waits for it (docs/alerts.md).

interface Tried {
  state: "waiting" | "delivered" | "failed";
  /** Why the last try failed, if it did. */
  reason: string | null;
}

/** Delivered; failed this time and tried again; given up; or nothing known yet. */
type DeliveryOutcome = "delivered" | "tried_again" | "failed" | "unknown";

export function outcomeOf({ state, reason }: Tried): DeliveryOutcome {
  if (state !== "waiting") return state;
  return reason === null ? "unknown" : "tried_again";
}

/** A round runs every two seconds and a try takes ten at most; other deliveries of the organization may come first. */
export const OUTCOME_WITHIN_MS = 30_000;
