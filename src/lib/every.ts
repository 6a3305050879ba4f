// A task that repeats in the background: never twice at once, and no failure ends it, not even one of those who are told.

export interface Repeating {
  /** Runs it now, after a run that is under way; those who ask before it begins share it. Resolves at its end. */
  now(): Promise<void>;
  /** No further run; resolves when the last one ended. */
  stop(): Promise<void>;
}

/**
 * Repeats `task` with `pauseMs` between the end of a run and the next, or as many milliseconds as the run resolves with.
 * The first run comes after one pause.
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
      // The task goes on, whoever cannot be told.
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
