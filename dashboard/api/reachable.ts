// Whether the gateway answers at all, as the last call saw it: known once for all pages, which keep what they have.
let awaySinceMs: number | null = null;
const watchers = new Set<() => void>();

/** To be told after every call; an answer of any kind is one. */
export function noteAnswer(came: boolean): void {
  const before = awaySinceMs;
  awaySinceMs = came ? null : (before ?? Date.now());
  if (awaySinceMs !== before) for (const watcher of watchers) watcher();
}

/** Calls `watcher` whenever that changes; what it returns ends it. */
export function watchAnswers(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Since when nothing has answered; null while the gateway does. */
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
