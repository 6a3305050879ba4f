// The ways a call can fail, and what each says about the route it used. Metrics and health share this list.

/** The causes of `providers/failure.ts`, each with what it says about the route's health. */
const SAYS = {
  connect: "unwell",
  connect_timeout: "unwell",
  unavailable: "unwell",
  server: "unwell",
  timeout: "unwell",
  broken: "unwell",
  shortage: "nothing",
  deadline: "nothing",
  no_answer: "nothing",
  account: "account",
  quota: "account",
  context_length: "well",
  content_filter: "well",
  rate_limited: "nothing",
  rejected: "nothing",
  aborted: "nothing",
  stopped: "nothing",
} as const;

export type CallFailure = keyof typeof SAYS;

/** The names of all causes. */
export const CALL_FAILURES = Object.keys(SAYS);

/**
 * What the end of a call says: `unwell` counts against the route, `account` against all routes of the
 * provider (our account there was refused), `well` heals both; `nothing` has no effect. A null failure is an
 * answer.
 */
export const healthAfter = (failure: CallFailure | null): "well" | "unwell" | "account" | "nothing" =>
  failure === null ? "well" : SAYS[failure];
