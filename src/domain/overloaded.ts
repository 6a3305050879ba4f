// What callers are told while the store is away or full: to come back.
import { Refusal } from "./refusals.ts";

/** `cause`: what the store said, for an operator; callers are not told. */
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
