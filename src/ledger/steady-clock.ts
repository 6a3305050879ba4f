// What time it is for what ends by itself and was stamped before: a clock that was put forward has made nobody late. Requests
// and gateways go by the monotonic clock, and end or renew what is theirs in time by that (money.md §2).
import type { Clock } from "../lib/clock.ts";

/** How far the wall clock was ahead of the monotonic one at an instant of the latter. */
interface Seen {
  atMs: number;
  aheadMs: number;
}

export class SteadyClock {
  /** Each further ahead than those before it: the first one counts. */
  private readonly seen: Seen[] = [];

  /** `believedAfterMs`: longer than anything takes that was stamped before a step. */
  constructor(
    private readonly clock: Clock,
    private readonly believedAfterMs: number,
  ) {
    this.nowMs();
  }

  /**
   * Milliseconds since the Unix epoch. A clock that is put back is believed at once; one that is put forward once it has been
   * so for long enough, as far as it was asked for meanwhile.
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
