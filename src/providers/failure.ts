// Why a provider call failed, by cause. `executed: "no"` is proof of non-execution: only then may the next route be
// tried and the idempotency key stays free (money.md §2, wire.md §8.3).
import { wantBehind } from "../lib/shortage.ts";
import type { ContextFigures } from "./http/context-figures.ts";

export type FailureCause =
  | "connect" // DNS, TCP or TLS failed before any request byte was written
  | "connect_timeout"
  | "shortage" // this machine had no descriptor, port or memory for a connection: our failure alone
  | "rate_limited" // 429, and throttling by other names
  | "unavailable" // 503, 529
  | "context_length" // 400 about the context window
  | "content_filter" // 400 or 403 for policy
  | "rejected" // other 4xx except 408 and 424
  | "account" // 401, and a 403 about it: our key or our rights there
  | "quota" // our account there has no credit or quota left: 402, and a 429 that says so
  | "server" // 500, 502, 504, 408, 424
  | "timeout" // no first part, or idle
  | "deadline" // the time for the whole call ran out while the upstream was answering
  | "no_answer" // the model ended without an answer, or with fewer choices than requested: the request decides that
  | "broken" // socket lost, 3xx, not the promised format, error inside a 200, no finish
  | "aborted" // we gave up: the caller left or the hold ended
  | "stopped"; // we gave up: this gateway stops

/** What the upstream said in its error response. */
export interface UpstreamReply {
  status?: number;
  retryAfterMs?: number;
  id?: string | null;
  /** Its own words, redacted, in one short line: for records and operators, never for a caller's answer. */
  words?: string;
  /** The request field that it names, as the upstream writes it. */
  param?: string;
  /** The place in the body that it names, if that says more. */
  place?: string;
  /** The figures of a prompt that was rejected as too long. */
  context?: ContextFigures;
  /** True if it does not know the field at all, rather than rejects its value. */
  unknownField?: boolean;
}

/** A failed provider call. `upstream` is what the provider itself said, if it responded. */
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

/**
 * Returns the failure for error `code` of a connection: the upstream's, unless this machine had no resources left for
 * one. `to` names where the connection should have led.
 */
export function noConnection(code: string, to = "the upstream"): Failure {
  const want = wantBehind(code);
  return want === null
    ? new Failure("connect", "no", `no connection to ${to} (${code})`)
    : new Failure("shortage", "no", `${want} for a connection (${code})`);
}

/** The failure if the proxy (`outbound.proxy`) answered with this status instead of opening a tunnel to the upstream. */
export const noTunnel = (status: string): Failure =>
  new Failure("connect", "no", `the proxy opened no connection to the upstream (${status})`);
