// How many calls of tools one answer may begin: each is kept apart to its end, here and on every surface.
import { Failure } from "./failure.ts";

/** Far above what any model calls at once. */
export const CALLS_MAX = 1024;

/** Throws `Failure` where so many were begun before. */
export function requireFewCalls(before: number): void {
  if (before >= CALLS_MAX)
    throw new Failure("broken", "unknown", "the upstream called more and more tools at once");
}
