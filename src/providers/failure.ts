// Why a provider call failed, by cause. `executed: "no"` is proof of non-execution: only then may the next route be
// tried and the idempotency key stays free (money.md §2, wire.md §8.3).
import { wantBehind } from "../lib/shortage.ts";
import type { ContextFigures } from "./http/context-figures.ts";

export type FailureCause =
  | "connect" // DNS, TCP or TLS failed before any request byte was written
  | "connect_timeout"
  | "shortage" // this machine had no descriptor, port or memory for a connection: nobody's failure but ours
  | "rate_limited" // 429, and throttling by other names
  | "unavailable" // 503, 529
  | "context_length" // 400 that speaks of the context window
  | "content_filter" // 400 or 403 for policy
  | "rejected" // other 4xx except 408 and 424
  | "account" // 401, and a 403 that speaks of it: our key or our rights there
  | "quota" // our account there has no credit or quota left: 402, and 429 that says so
  | "server" // 500, 502, 504, 408, 424
  | "timeout" // no first part, or idle
  | "deadline" // the time for all of it was over while the upstream spoke
  | "no_answer" // the model ended without one, or with fewer choices than were asked for: what it was asked decides that
  | "broken" // socket lost, 3xx, not the promised format, error inside a 200, no finish
  | "aborted" // we gave up: the caller left or the hold ended
  | "stopped"; // we gave up: this gateway stops

/** What the upstream told with its failure. */
export interface UpstreamReply {
  status?: number;
  retryAfterMs?: number;
  id?: string | null;
  /** Its own words, redacted, one short line: for records and operators, never for a caller's answer. */
  words?: string;
  /** The request's field that it names, as it writes it. */
  param?: string;
  /** The place in the body that it names, where that says more. */
  place?: string;
  /** Of a prompt that it refused as too long. */
  context?: ContextFigures;
  /** It does not know the field at all, rather than dislike its value. */
  unknownField?: boolean;
}

/** `upstream`: what the provider itself said, as far as there was a reply. */
export class Failure extends Error {
  constructor(
    readonly reason: FailureCause,
    readonly executed: "no" | "unknown",
    message: string,
    readonly upstream: UpstreamReply = {},
  ) {
    super(message);
    this.name = "Failure";
  }
}

/** No connection, for `code`: the upstream's failure, unless it was this machine that had nothing left for one. */
export function noConnection(code: string): Failure {
  const want = wantBehind(code);
  return want === null
    ? new Failure("connect", "no", `no connection to the upstream (${code})`)
    : new Failure("shortage", "no", `${want} for a connection (${code})`);
}
