// A clock that stands still until moved: a seeded store is written in chronological order, in a fraction of
// the time.
import type { Clock } from "../../lib/clock.ts";

export class MovingClock implements Clock {
  constructor(private atMs: number) {}

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  /** Never moves back. */
  moveTo(atMs: number): void {
    this.atMs = Math.max(this.atMs, Math.floor(atMs));
  }
}
