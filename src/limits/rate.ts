// Requests per minute and key, in memory of this process (wire.md §6 `x-ratelimit-*`, S35); off unless configured. Only
// proven keys are counted: whoever only knows a key's beginning uses up nothing of it.
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { Windows } from "./window.ts";

const MINUTE_MS = 60_000;
/** Windows kept at most: of keys that exist, so this is far above what a process sees in a minute. */
const MAX_WINDOWS = 100_000;

export interface Taken {
  refusal: Refusal | null;
  headers: Record<string, string>;
}

const UNLIMITED: Taken = { refusal: null, headers: {} };

export class Rate {
  private readonly windows: Windows | null;

  /** `requestsPerMinute`: null switches it off. */
  constructor(
    private readonly requestsPerMinute: number | null,
    private readonly clock: Clock,
  ) {
    this.windows =
      requestsPerMinute === null
        ? null
        : new Windows({ most: requestsPerMinute, windowMs: MINUTE_MS, kept: MAX_WINDOWS });
  }

  /** Counts one request of this key, or says why it may not start. */
  take(keyId: string): Taken {
    if (this.windows === null) return UNLIMITED;
    const { fits, left, resetMs } = this.windows.count(keyId, this.clock.monotonicMs());
    return {
      refusal: fits ? null : reached(resetMs),
      headers: {
        "x-ratelimit-limit-requests": String(this.requestsPerMinute),
        "x-ratelimit-remaining-requests": String(left),
        "x-ratelimit-reset-requests": printDuration(resetMs),
      },
    };
  }
}

const reached = (resetMs: number): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "This key has reached its rate limit. Wait as long as Retry-After says, then send the request again.",
    { retryAfterMs: Math.max(1, resetMs) },
  );

/** `12ms`, `41s`, `6m0s`: the form that clients of the compatible API parse. */
function printDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
