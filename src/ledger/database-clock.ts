// The database's time as known to this process: read with every batch and lease renewal, and carried on by
// the monotonic clock. All gateways of a database agree on it, whatever their own clocks say (money.md §2).
import type { Clock } from "../lib/clock.ts";

export class DatabaseClock implements Clock {
  private offsetMs = Date.now() - performance.now();

  nowMs(): number {
    return Math.floor(performance.now() + this.offsetMs);
  }

  monotonicMs(): number {
    return performance.now();
  }

  /** Records the time that the database has just returned. */
  read(databaseNowMs: number): void {
    this.offsetMs = databaseNowMs - performance.now();
  }
}
