// What is an upstream's silence: time in which we could have read, and nothing came.
import { afterEach, expect, test } from "bun:test";
import { CallTimeouts } from "./timeouts.ts";

const FIRST_MS = 60;
let timeouts: CallTimeouts;
afterEach(() => timeouts.end());

const begun = (totalMs: number): CallTimeouts =>
  new CallTimeouts(new AbortController().signal, { firstTokenMs: FIRST_MS, idleMs: FIRST_MS, totalMs });

test("a thread that was held reads what waits before the upstream is called silent; then silence is silence", async () => {
  timeouts = begun(10_000);
  Bun.sleepSync(4 * FIRST_MS); // a locked store, a frozen process: nobody could read
  await Bun.sleep(20);
  expect(timeouts.reason).toBeNull();
  timeouts.pause(); // what waited is read
  timeouts.resume();
  await Bun.sleep(FIRST_MS / 2);
  expect(timeouts.reason).toBeNull();
  await Bun.sleep(7 * FIRST_MS);
  expect(timeouts.reason?.reason).toBe("timeout");
});

test("where nothing waited behind a held thread, the upstream is silent a moment later", async () => {
  timeouts = begun(10_000);
  Bun.sleepSync(4 * FIRST_MS);
  await Bun.sleep(7 * FIRST_MS);
  expect(timeouts.reason?.reason).toBe("timeout");
});

test("the end of the whole call waits for nobody", async () => {
  timeouts = begun(2 * FIRST_MS);
  Bun.sleepSync(4 * FIRST_MS);
  await Bun.sleep(20);
  expect(timeouts.reason?.reason).toBe("timeout");
});
