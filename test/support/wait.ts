// Waiting for what comes by itself, and keeping clear of the turn of an hour or a day.
import { expect } from "bun:test";

/** What is waited for comes at once, except on a machine that has much else to do. */
export const PATIENCE_MS = 30_000;

/** Until it holds; fails with `what` when it does not. */
export async function waitFor(holds: () => Promise<boolean>, what: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`waited in vain for ${what}`);
    await Bun.sleep(20);
  }
}

/** Until what is read is what is wanted; fails with what was read last. */
export async function reads<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  let last = await read();
  while (!Bun.deepEquals(last, wanted) && performance.now() < until) {
    await Bun.sleep(20);
    last = await read();
  }
  expect<unknown>(last).toEqual(wanted);
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Longer than such a test takes on a slow machine. */
const STORY_MS = 90_000;
/** For the hook that waits: a turn and its own work. */
export const TURN_PATIENCE_MS = STORY_MS + 60_000;

/** Waits out the turn of an hour (or day, and with it of the month) that would come in the middle of a test. */
export async function clearOfTheTurn(unitMs: number): Promise<void> {
  const left = unitMs - (Date.now() % unitMs);
  if (left < STORY_MS) await Bun.sleep(left);
}
