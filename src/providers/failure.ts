// Why a provider call failed, by cause. `executed: "no"` is proof of non-execution: only then may the next route be
// tried and the idempotency key stays free (money.md §2, wire.md §8.3).

export type FailureCause =
  | "connect" // DNS, TCP or TLS failed before any request byte was written
  | "connect_timeout"
  | "rate_limited" // 429, and throttling by other names
  | "unavailable" // 503, 529
  | "context_length" // 400 that speaks of the context window
  | "content_filter" // 400 for policy
  | "rejected" // other 4xx except 408 and 424
  | "account" // 401, 402, 403: our account there
  | "server" // 500, 502, 504, 408, 424
  | "timeout" // no first part, idle, or total time over
  | "broken" // socket lost, 3xx, not the promised format, error inside a 200, no finish
  | "aborted" // we gave up: the caller left or the hold ended
  | "stopped"; // we gave up: this gateway stops

export class Failure extends Error {
  constructor(
    readonly reason: FailureCause,
    readonly executed: "no" | "unknown",
    message: string,
    readonly upstream: { status?: number; retryAfterMs?: number; id?: string | null } = {},
  ) {
    super(message);
    this.name = "Failure";
  }
}
