// JSON whose numbers are kept as they were written: people and vendors write some that no double can hold.
import { isJsonObject, type JsonObject } from "./read-value.ts";

/** JSON functions of the engine beyond its published types. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, at: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
}
const EXACT = JSON as unknown as ExactJson;

/** Whether the value is a number kept as it was written because no double can hold it. */
export const isExactNumber = (value: unknown): boolean => EXACT.isRawJSON(value);

/** A double holds every number with fewer digits and a smaller exponent exactly. */
const MAY_CHANGE = /[\d.]{16}|[eE][+-]?\d{3}/;

/** The object of a JSON text that was already parsed to `read`: the same object, unless a number in it is not exact. */
export function exactObject(text: string, read: JsonObject): JsonObject {
  if (!MAY_CHANGE.test(text)) return read;
  const exact = EXACT.parse(text, exactNumber);
  return isJsonObject(exact) ? exact : read;
}

/** The value parsed from a JSON text, with the objects and lists under these names replaced by exact ones. */
export function withExact<T extends object>(text: string, read: T, names: readonly string[]): T {
  if (names.some((name) => text.includes(`"${name}"`)) && MAY_CHANGE.test(text))
    replaceUnder(read, EXACT.parse(text, exactNumber), names);
  return read;
}

/** Both values were parsed from the same text, so they differ only in numbers. */
function replaceUnder(read: unknown, exact: unknown, names: readonly string[]): void {
  if (Array.isArray(read) && Array.isArray(exact))
    for (const [at, item] of read.entries()) replaceUnder(item, exact[at], names);
  if (!isJsonObject(read) || !isJsonObject(exact)) return;
  for (const name of Object.keys(read)) {
    const value = read[name];
    if (names.includes(name) && typeof value === "object") read[name] = exact[name];
    else replaceUnder(value, exact[name], names);
  }
}

/** The value of a JSON text, with integers that a double may not hold, and all larger numbers, kept as they were written. */
export const withLargeNumbers = (text: string): unknown =>
  EXACT.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && Math.abs(value) > Number.MAX_SAFE_INTEGER
      ? EXACT.rawJSON(source)
      : value,
  );

const exactNumber = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && String(value) !== source
    ? EXACT.rawJSON(source)
    : value;
