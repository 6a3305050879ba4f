// A clock that tests can move: wall time runs on from where it was set; monotonic time is real.
import type { Clock } from "../../src/lib/clock.ts";

export interface TestClock extends Clock {
  /** Moves only the wall clock, like a person who sets it. */
  advance(ms: number): void;
  /** Lets that much time pass, on both clocks. */
  pass(ms: number): void;
  /** Sets the wall clock to an instant. */
  set(iso: string): void;
}

export function testClock(): TestClock {
  let offsetMs = 0;
  let passedMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    monotonicMs: () => performance.now() + passedMs,
    advance: (ms) => {
      offsetMs += ms;
    },
    pass: (ms) => {
      offsetMs += ms;
      passedMs += ms;
    },
    set: (iso) => {
      offsetMs = Date.parse(iso) - Date.now();
    },
  };
}

/** Its wall time stands still until it is moved: everything happens in the same millisecond. */
export function stoppedClock(): TestClock {
  let nowMs = Date.now();
  let passedMs = 0;
  return {
    nowMs: () => nowMs,
    monotonicMs: () => performance.now() + passedMs,
    advance: (ms) => {
      nowMs += ms;
    },
    pass: (ms) => {
      nowMs += ms;
      passedMs += ms;
    },
    set: (iso) => {
      nowMs = Date.parse(iso);
    },
  };
}
