// One text for all JSON values of equal meaning, whatever the order in which their members were written. Input of the
// idempotency fingerprint (money.md §8).
import { isExactNumber } from "./exact-json.ts";

/** Prints a value that came out of JSON, with the members of every object in one fixed order and without blanks. */
export const canonicalJson = (value: unknown): string => JSON.stringify(inOrder(value ?? null));

/** A copy whose members were added in sorted order; without a prototype, so that no key means anything. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const given = value as Record<string, unknown>;
  const sorted = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(given).sort()) sorted[key] = inOrder(given[key]);
  return sorted;
}
