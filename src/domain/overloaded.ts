// The refusal while the store is away or full: retry later.
import { Refusal } from "./refusals.ts";

/** `cause`: the store's error, for an operator; callers do not see it. */
export function overloaded(cause?: unknown): Refusal {
  const refusal = new Refusal(
    "overloaded",
    "The gateway cannot take this request right now. Try again in a moment.",
    { retryAfterMs: 1_000 },
  );
  if (cause !== undefined) refusal.cause = cause;
  return refusal;
}

export const isOverloaded = (error: unknown): boolean =>
  error instanceof Refusal && error.code === "overloaded";
