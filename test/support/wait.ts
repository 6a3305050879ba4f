// Waits for conditions, and avoids the turn of an hour or a day during a test.
import { expect } from "bun:test";

/** A condition holds almost at once, except on a busy machine. */
export const PATIENCE_MS = 60_000;

/** How often it is looked at: most conditions hold soon, and each look at a gateway is a request. */
const LOOK_EVERY_MS = 20;
const LATER_EVERY_MS = 60;
const SOON_MS = 1_000;

const nextLook = (begun: number): Promise<void> =>
  Bun.sleep(performance.now() - begun < SOON_MS ? LOOK_EVERY_MS : LATER_EVERY_MS);

/** Waits until it holds; fails with `what` if it never does. */
export async function waitFor(holds: () => Promise<boolean>, what: string): Promise<void> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error(`waited in vain for ${what}`);
    await nextLook(begun);
  }
}

/** Waits until the value read is the wanted one; fails with the last value. */
export async function reads<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  const begun = performance.now();
  let last = await read();
  while (!Bun.deepEquals(last, wanted) && performance.now() - begun < PATIENCE_MS) {
    await nextLook(begun);
    last = await read();
  }
  expect<unknown>(last).toEqual(wanted);
}

/**
 * Lets the event loop of this process, in which the gateway runs too, turn so often that it has read what was sent to it. For what
 * leaves no trace that could be waited for; a slow machine takes longer for it.
 */
export async function loopTurns(times = 20): Promise<void> {
  for (let left = times; left > 0; left -= 1) await Bun.sleep(5);
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Longer than such a test takes on a slow machine. */
const STORY_MS = 90_000;
/** The timeout of the hook that waits: a turn and its own work. */
export const TURN_PATIENCE_MS = STORY_MS + 60_000;

/** Waits for the turn of an hour (or a day, and thus a month) if it would happen in the middle of a test. */
export async function clearOfTheTurn(unitMs: number): Promise<void> {
  const left = unitMs - (Date.now() % unitMs);
  if (left < STORY_MS) await Bun.sleep(left);
}
