// The time for deadlines and leases that were stamped earlier: a clock that was put forward makes nobody
// late. Requests and gateways use the monotonic clock, and end or renew in time by it (money.md §2).
import type { Clock } from "../lib/clock.ts";

/** How far the wall clock was ahead of the monotonic one at an instant of the latter. */
interface Seen {
  atMs: number;
  aheadMs: number;
}

export class SteadyClock {
  /** In increasing order of `aheadMs`; the first one applies. */
  private readonly seen: Seen[] = [];

  /** `believedAfterMs` is longer than anything stamped before a step lasts. */
  constructor(
    private readonly clock: Clock,
    private readonly believedAfterMs: number,
  ) {
    this.nowMs();
  }

  /**
   * Returns milliseconds since the Unix epoch. A clock that is put back is believed at once; one that
   * is put forward only after it has stayed so for long enough, as seen by the calls made meanwhile.
   */
  nowMs(): number {
    const atMs = this.clock.monotonicMs();
    const aheadMs = this.clock.nowMs() - atMs;
    const { seen } = this;
    while ((seen.at(-1)?.aheadMs ?? Number.NEGATIVE_INFINITY) >= aheadMs) seen.pop();
    seen.push({ atMs, aheadMs });
    while (atMs - (seen[0]?.atMs ?? atMs) > this.believedAfterMs) seen.shift();
    return Math.floor(atMs + (seen[0]?.aheadMs ?? aheadMs));
  }
}
