// Requests per minute, in memory of this process (wire.md §6 `x-ratelimit-*`, S35); off unless configured. Only proven keys
// are counted: whoever only knows a key's beginning uses up nothing of it.
import type { CallerIds } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import type { CallerLimit } from "./caller-limits.ts";
import { Windows } from "./window.ts";

const MINUTE_MS = 60_000;
/** Windows kept of each limit at most: of keys that exist, so this is far above what a process sees in a minute. */
const MAX_WINDOWS = 100_000;

export interface Taken {
  refusal: Refusal | null;
  headers: Record<string, string>;
}

const UNLIMITED: Taken = { refusal: null, headers: {} };

interface RatePorts {
  clock: Pick<Clock, "monotonicMs">;
  /** Told of each refusal. */
  refused: (limit: string) => void;
}

export class Rate {
  private readonly limits: readonly (CallerLimit & { windows: Windows })[];

  constructor(
    limits: readonly CallerLimit[],
    private readonly ports: RatePorts,
  ) {
    this.limits = limits.map((limit) => ({
      ...limit,
      windows: new Windows({ most: limit.most, windowMs: MINUTE_MS, kept: MAX_WINDOWS }),
    }));
  }

  /**
   * Counts one request of this caller, or says why it may not start; a refused one is counted nowhere. The headers tell of
   * the limit that has the least left.
   */
  take(caller: CallerIds): Taken {
    if (this.limits.length === 0) return UNLIMITED;
    const nowMs = this.ports.clock.monotonicMs();
    const full = this.limits.find(({ of, windows }) => !windows.fits(of(caller), nowMs));
    const [nearest] = (full === undefined ? this.limits : [full])
      .map((limit) => ({ limit, ...limit.windows.count(limit.of(caller), nowMs) }))
      .toSorted((a, b) => a.left - b.left);
    if (nearest === undefined) return UNLIMITED;
    const { limit, fits, left, resetMs } = nearest;
    if (!fits) this.ports.refused(limit.name);
    return {
      refusal: fits ? null : reached(limit, resetMs),
      headers: {
        "x-ratelimit-limit-requests": String(limit.most),
        "x-ratelimit-remaining-requests": String(left),
        "x-ratelimit-reset-requests": printDuration(resetMs),
      },
    };
  }
}

const reached = ({ whose }: CallerLimit, resetMs: number): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    `${whose} has reached its rate limit. Wait as long as Retry-After says, then send the request again.`,
    { retryAfterMs: Math.max(1, resetMs) },
  );

/** `12ms`, `41s`, `6m0s`: the form that clients of the compatible API parse. */
function printDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
