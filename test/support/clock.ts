// A clock that a test can move: wall time runs on from where it was put; monotonic time is real.
import type { Clock } from "../../src/lib/clock.ts";

export interface TestClock extends Clock {
  /** Moves the wall clock. */
  advance(ms: number): void;
  /** Puts the wall clock to an instant. */
  set(iso: string): void;
}

export function testClock(): TestClock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    monotonicMs: () => performance.now(),
    advance: (ms) => {
      offsetMs += ms;
    },
    set: (iso) => {
      offsetMs = Date.parse(iso) - Date.now();
    },
  };
}

/** Its wall time stands still until it is moved: whatever happens, happens in the same millisecond. */
export function stoppedClock(): TestClock {
  let nowMs = Date.now();
  return {
    nowMs: () => nowMs,
    monotonicMs: () => performance.now(),
    advance: (ms) => {
      nowMs += ms;
    },
    set: (iso) => {
      nowMs = Date.parse(iso);
    },
  };
}
