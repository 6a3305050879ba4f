// A verification reads the whole store: many at once, asked for by many people or by one script that does not wait, would be slower
// than each alone, and slow everybody else down with it.

/** One runs; whoever asks meanwhile shares the next one, which begins after they asked. */
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
