// What callers are told while the store is away or full: to come back.
import { Refusal } from "./refusals.ts";

export const overloaded = (): Refusal =>
  new Refusal("overloaded", "The gateway cannot take this request right now. Try again in a moment.", {
    retryAfterMs: 1_000,
  });

export const isOverloaded = (error: unknown): boolean =>
  error instanceof Refusal && error.code === "overloaded";
