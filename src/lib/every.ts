// A task that repeats in the background: its runs never overlap, and no failure ends it, not even one of the callback
// that receives failures.

export interface Repeating {
  /**
   * Runs the task now, after a run under way; callers share a run that has not begun. Resolves at its end.
   */
  now(): Promise<void>;
  /** Prevents further runs; resolves when the last one has ended. */
  stop(): Promise<void>;
}

/**
 * Repeats `task` with `pauseMs` between the end of a run and the next, or with the number of milliseconds
 * that the run resolves with. The first run comes after one pause.
 */
export function every(
  pauseMs: number,
  task: () => Promise<number | void>,
  failed: (error: unknown) => void,
): Repeating {
  let last: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    clearTimeout(timer);
    next ??= last = last.then(begin).then(plan, tell);
    return next;
  };
  const begin = (): Promise<number | void> | undefined => {
    next = null;
    return stopped ? undefined : task();
  };
  const plan = (afterMs: number | void): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void run(), afterMs ?? pauseMs);
    timer.unref();
  };
  const tell = (error: unknown): void => {
    plan();
    try {
      failed(error);
    } catch {
      // The task continues even if the failure cannot be reported.
    }
  };
  plan();
  return {
    now: run,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await last;
    },
  };
}
