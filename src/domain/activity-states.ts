// What became of a request, as rows of activity say it; in the order in which a chart stacks them.
export const ACTIVITY_STATES = [
  "settled",
  /** Settled without a finish reason: the caller left or the provider broke off, and what was delivered is charged. */
  "cut_short",
  "running",
  "released",
  "outcome_unknown",
  /** Turned away before anything was held. */
  "refused",
  /** Answered from a kept answer, $0. */
  "replay",
] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];
