// Requests per minute and concurrency per key, in memory of this process (wire.md §6 `x-ratelimit-*`, S35). Both are
// off unless configured. Only callers that showed a valid key count: `giveBack` undoes a take for a 401.
import { Refusal } from "../contract/refusals.ts";
import type { Clock } from "../lib/clock.ts";

export interface RateLimits {
  requestsPerMinute: number | null;
  concurrent: number | null;
}

interface Window {
  startedAtMs: number;
  taken: number;
  running: number;
}

const MINUTE_MS = 60_000;
/** Windows kept at most; idle ones go first. Bounds memory against made-up key ids. */
const MAX_WINDOWS = 100_000;

export interface Taken {
  refusal: Refusal | null;
  headers: Record<string, string>;
  /** The request ended. */
  release(): void;
  /** The key turned out not to be valid. */
  giveBack(): void;
}

const UNLIMITED: Taken = { refusal: null, headers: {}, release: () => {}, giveBack: () => {} };

export class Rate {
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly limits: RateLimits,
    private readonly clock: Clock,
  ) {}

  /** Counts one request of this key, or says why it may not start. */
  take(keyId: string): Taken {
    const { requestsPerMinute, concurrent } = this.limits;
    if (requestsPerMinute === null && concurrent === null) return UNLIMITED;
    const window = this.windowOf(keyId);
    const resetMs = window.startedAtMs + MINUTE_MS - this.clock.monotonicMs();
    if (requestsPerMinute !== null && window.taken >= requestsPerMinute) return this.refused(window, resetMs);
    if (concurrent !== null && window.running >= concurrent)
      return this.refused(window, Math.min(resetMs, 1000));
    window.taken += 1;
    window.running += 1;
    let running = true;
    const release = (): void => {
      if (running) window.running -= 1;
      running = false;
    };
    const giveBack = (): void => {
      if (running) window.taken -= 1;
      release();
    };
    return { refusal: null, headers: this.headers(window, resetMs), release, giveBack };
  }

  private windowOf(keyId: string): Window {
    const now = this.clock.monotonicMs();
    let window = this.windows.get(keyId);
    if (window === undefined) {
      if (this.windows.size >= MAX_WINDOWS) this.dropIdle();
      window = { startedAtMs: now, taken: 0, running: 0 };
      this.windows.set(keyId, window);
    } else if (now - window.startedAtMs >= MINUTE_MS) {
      window.startedAtMs = now;
      window.taken = 0;
    }
    return window;
  }

  private dropIdle(): void {
    for (const [keyId, window] of this.windows) if (window.running === 0) this.windows.delete(keyId);
  }

  private refused(window: Window, waitMs: number): Taken {
    const refusal = new Refusal(
      "rate_limit_exceeded",
      "This key has reached its rate limit. Wait as long as Retry-After says, then send the request again.",
      {
        retryAfterMs: Math.max(1, waitMs),
      },
    );
    return { ...UNLIMITED, refusal, headers: this.headers(window, waitMs) };
  }

  private headers(window: Window, resetMs: number): Record<string, string> {
    const { requestsPerMinute } = this.limits;
    if (requestsPerMinute === null) return {};
    return {
      "x-ratelimit-limit-requests": String(requestsPerMinute),
      "x-ratelimit-remaining-requests": String(Math.max(0, requestsPerMinute - window.taken)),
      "x-ratelimit-reset-requests": printDuration(resetMs),
    };
  }
}

/** `12ms`, `41s`, `6m0s`: the form that clients of the compatible API parse. */
export function printDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
