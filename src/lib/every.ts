// A task that repeats in the background: never twice at once, and no failure ends it.

export interface Repeating {
  /** Runs it now, after a run that is under way; those who ask before it begins share it. Resolves at its end. */
  now(): Promise<void>;
  /** No further run; resolves when the last one ended. */
  stop(): Promise<void>;
}

/** Repeats `task` with `pauseMs` between the end of a run and the next. The first run comes after one pause. */
export function every(
  pauseMs: number,
  task: () => Promise<void>,
  failed: (error: unknown) => void,
): Repeating {
  let last: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    clearTimeout(timer);
    next ??= last = last.then(begin).catch(failed).then(plan);
    return next;
  };
  const begin = (): Promise<void> | undefined => {
    next = null;
    return stopped ? undefined : task();
  };
  const plan = (): void => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void run(), pauseMs);
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
