// What is loaded or opened when somebody first asks for it.

/**
 * `open`, once: all who ask share one opening and what came of it. A failure is told to whoever waits for it and is not kept, so that the next
 * one who asks tries again.
 */
export function openedOnce<Asked extends unknown[], T>(
  open: (...asked: Asked) => Promise<T>,
): (...asked: Asked) => Promise<T> {
  let opening: Promise<T> | null = null;
  return (...asked) =>
    (opening ??= open(...asked).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
}
