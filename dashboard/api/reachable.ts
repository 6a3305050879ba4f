// Whether the gateway answers at all, according to the last call: tracked once for all pages, which keep their data.

/** The interval at which a gateway that does not answer is checked again. */
export const AGAIN_MS = 3_000;

let awaySinceMs: number | null = null;
const watchers = new Set<() => void>();

/** Called after every call; an answer of any kind counts. */
export function noteAnswer(came: boolean): void {
  const before = awaySinceMs;
  awaySinceMs = came ? null : (before ?? Date.now());
  if (awaySinceMs !== before) for (const watcher of watchers) watcher();
}

/** Calls `watcher` whenever that changes; returns a function that unsubscribes. */
export function watchAnswers(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Since when nothing has answered; null while the gateway answers. */
export const awaySince = (): number | null => awaySinceMs;

/** Resolves at the next answer. */
export const nextAnswer = (): Promise<void> =>
  new Promise((resolve) => {
    const forget = watchAnswers(() => {
      if (awaySinceMs !== null) return;
      forget();
      resolve();
    });
  });
