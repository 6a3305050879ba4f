// An upstream is silent while we could have read and nothing came. These tests advance the time by hand.
import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { CallTimeouts } from "./timeouts.ts";

const FIRST_MS = 60;
const CATCH_UP_MS = 250;
let nowMs = 0;
let timeouts: CallTimeouts;
beforeEach(() => {
  nowMs = 0;
  jest.useFakeTimers();
  spyOn(performance, "now").mockImplementation(() => nowMs);
});
afterEach(() => {
  timeouts.end();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const begun = (totalMs: number): CallTimeouts =>
  new CallTimeouts(new AbortController().signal, { firstTokenMs: FIRST_MS, idleMs: FIRST_MS, totalMs });

/** The thread runs: every timer fires when it is due. */
function pass(ms: number): void {
  for (let at = 0; at < ms; at += 1) {
    nowMs += 1;
    jest.advanceTimersByTime(1);
  }
}

/** The thread is blocked: a locked store, a frozen process. A timer that came due meanwhile fires late. */
function hold(ms: number): void {
  nowMs += ms;
  jest.advanceTimersToNextTimer();
}

const reason = (): string | null => timeouts.reason?.reason ?? null;

test("a thread that was held reads what waits before the upstream is called silent; then silence is silence", () => {
  timeouts = begun(10_000);
  hold(4 * FIRST_MS); // nobody could read
  pass(20);
  expect(reason()).toBeNull();
  timeouts.pause(); // the pending data is read
  timeouts.resume();
  pass(FIRST_MS / 2);
  expect(reason()).toBeNull();
  pass(CATCH_UP_MS);
  expect(reason()).toBe("timeout");
});

test("who speaks until the time for the whole call is over was not silent", () => {
  timeouts = begun(FIRST_MS * 3);
  for (let part = 0; part < 8 && reason() === null; part += 1) {
    pass(FIRST_MS / 2);
    timeouts.pause();
    timeouts.resume();
  }
  expect(reason()).toBe("deadline");
});

test.each(["nothing was said at all", "it fell silent within"])("where %s, it was", (until) => {
  timeouts = begun(until === "nothing was said at all" ? FIRST_MS / 2 : 10_000);
  if (until === "it fell silent within") {
    timeouts.pause();
    timeouts.resume();
  }
  pass(FIRST_MS);
  expect(reason()).toBe("timeout");
});

test("where nothing waited behind a held thread, the upstream is silent a moment later", () => {
  timeouts = begun(10_000);
  hold(4 * FIRST_MS);
  pass(CATCH_UP_MS - 1);
  expect(reason()).toBeNull();
  pass(1);
  expect(reason()).toBe("timeout");
});

test("where every timer comes late, silence is silence as well; a word in between begins anew", () => {
  timeouts = begun(10_000);
  for (let late = 0; late < 4; late += 1) hold(CATCH_UP_MS + FIRST_MS);
  expect(reason()).toBeNull();
  timeouts.pause();
  timeouts.resume();
  for (let late = 0; late < 4; late += 1) hold(CATCH_UP_MS + FIRST_MS);
  expect(reason()).toBeNull();
  hold(CATCH_UP_MS + FIRST_MS);
  expect(reason()).toBe("timeout");
});

test("the end of the whole call waits for nobody", () => {
  timeouts = begun(2 * FIRST_MS);
  hold(4 * FIRST_MS);
  expect(reason()).toBe("timeout");
});
