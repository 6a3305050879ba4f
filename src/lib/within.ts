/**
 * The promise's value, or null if it takes longer. The promise keeps running; the caller handles its
 * rejection.
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise's value; throws the signal's reason as soon as it is aborted. The promise keeps running. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  const told = Promise.withResolvers<never>();
  const tell = (): void => told.reject(signal.reason);
  signal.addEventListener("abort", tell);
  if (signal.aborted) tell();
  try {
    return await Promise.race([promise, told.promise]);
  } finally {
    signal.removeEventListener("abort", tell);
  }
}
