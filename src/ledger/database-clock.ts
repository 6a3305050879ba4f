// What time it is in the database, as far as this process knows: what every batch and lease renewal reads there, carried
// on by the monotonic clock. All gateways of a database agree on it, whatever their own clocks say (money.md §2).
import type { Clock } from "../lib/clock.ts";

export class DatabaseClock implements Clock {
  private offsetMs = Date.now() - performance.now();

  nowMs(): number {
    return Math.floor(performance.now() + this.offsetMs);
  }

  monotonicMs(): number {
    return performance.now();
  }

  /** The database said so just now. */
  read(databaseNowMs: number): void {
    this.offsetMs = databaseNowMs - performance.now();
  }
}
