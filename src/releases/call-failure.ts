// How a call failed, and what that says about the route it went out on. One list: metrics count by it, health decides by it.

/** The causes of `providers/failure.ts`, each with what it says of the route's health. */
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

/** Every cause there is, by its name. */
export const CALL_FAILURES = Object.keys(SAYS);

/**
 * What the end of a call says: `unwell` counts against the route, `account` against all routes of the provider (it is our
 * account there that was refused), `well` heals both; of `nothing` no conclusion is drawn. A null failure is an answer.
 */
export const healthAfter = (failure: CallFailure | null): "well" | "unwell" | "account" | "nothing" =>
  failure === null ? "well" : SAYS[failure];
