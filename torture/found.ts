// Everything a run has seen, as one JSON document beside the store and the logs, for a run that found a violation.
import type { Found } from "./evidence.ts";

export const printFound = (found: Found): string => JSON.stringify(found, plain, 1);

/** Prints money as a decimal string and maps as objects. */
export function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Map ? Object.fromEntries(value) : value;
}
