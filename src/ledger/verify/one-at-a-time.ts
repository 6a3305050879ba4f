// A verification reads the whole store: several at once, requested by many people or by a script that
// does not wait, would each be slower than alone, and slow down everything else.

/** Runs one at a time; calls made meanwhile share the next run, which begins after they were made. */
export function oneAtATime<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    next = null;
    const mine = run();
    running = mine;
    const ended = (): void => {
      if (running === mine) running = null;
    };
    mine.then(ended, ended);
    return mine;
  };
  return () => {
    if (running === null) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
