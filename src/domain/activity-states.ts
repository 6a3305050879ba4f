// The states of a request as rows of activity show them, in the order in which a chart stacks them.
export const ACTIVITY_STATES = [
  "settled",
  /** Settled without a finish reason: the caller left or the provider broke off, and what was delivered is charged. */
  "cut_short",
  "running",
  "released",
  "outcome_unknown",
  /** Refused before anything was held. */
  "refused",
  /** Answered from a stored answer, $0. */
  "replay",
] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];
