// Loads or opens something on first use.

/**
 * Wraps `open` so that it runs once and all callers share its result. A failure is reported to the callers
 * waiting for it and not kept, so that the next call tries again.
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
