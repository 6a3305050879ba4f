// A wait that lasts says so: what for and for how long, after a second and again every fifteen, so that nobody takes a process that
// waits for one that hangs.

/** Receives a sentence without a full stop, for the log or a terminal. */
export type Say = (words: string) => void;

export const SILENT: Say = () => {};

const FIRST_AFTER_MS = 1_000;
const AGAIN_AFTER_MS = 15_000;

/** The result of `work`; `waitsFor` is asked each time that something is said. Never fails because nothing could be said. */
export async function aloud<T>(
  say: Say,
  waitsFor: () => string | Promise<string>,
  work: () => Promise<T>,
): Promise<T> {
  const beganMs = performance.now();
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sayAfter = (ms: number): void => {
    timer = setTimeout(() => void tell(), ms);
    timer.unref();
  };
  const tell = async (): Promise<void> => {
    try {
      const words = await waitsFor();
      if (!over) say(`waiting for ${words} (${Math.round((performance.now() - beganMs) / 1000)} s so far)`);
    } catch {
      // Whatever could not be said now is tried again.
    }
    if (!over) sayAfter(AGAIN_AFTER_MS);
  };
  sayAfter(FIRST_AFTER_MS);
  try {
    return await work();
  } finally {
    over = true;
    clearTimeout(timer);
  }
}
