// A clock that stands where it was put: a seeded store is written in the order of its time, in a fraction of it.
import type { Clock } from "../../lib/clock.ts";

export class MovingClock implements Clock {
  constructor(private atMs: number) {}

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  /** Never back. */
  moveTo(atMs: number): void {
    this.atMs = Math.max(this.atMs, Math.floor(atMs));
  }
}
