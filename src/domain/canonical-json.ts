// Canonical JSON: one text for all JSON values of equal meaning, whatever the order of their members. Input of the idempotency
// fingerprint (money.md §8).
import { isExactNumber } from "./exact-json.ts";

/** Prints a value parsed from JSON, with the members of every object in one fixed order and without whitespace. */
export const canonicalJson = (value: unknown): string => JSON.stringify(inOrder(value ?? null));

/** Returns a copy with sorted members and no prototype, so that no key has a special meaning. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const given = value as Record<string, unknown>;
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(given).sort()) sorted[key] = inOrder(given[key]);
  return sorted;
}
