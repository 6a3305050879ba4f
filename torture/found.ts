// Everything a run has seen, as one JSON document beside the store and the logs of a run that found something.
import type { Found } from "./evidence.ts";

export const printFound = (found: Found): string => JSON.stringify(found, plain, 1);

/** Money is a decimal string; maps are objects. */
export function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Map ? Object.fromEntries(value) : value;
}
