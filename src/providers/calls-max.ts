// The maximum number of tool calls in one answer: each is kept in memory until it ends, here and on every surface.
import { Failure } from "./failure.ts";

/** Far above what any model calls at once. */
export const CALLS_MAX = 1024;

/** Throws `Failure` if that many calls have already begun. */
export function requireFewCalls(before: number): void {
  if (before >= CALLS_MAX)
    throw new Failure("broken", "unknown", "the upstream made too many tool calls in one answer");
}
