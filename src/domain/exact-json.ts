// JSON whose numbers go through as they were written: some that people and vendors write are held by no double.
import { isJsonObject, type JsonObject } from "./read-value.ts";

/** What the engine knows of JSON beyond its published types. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, at: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
}
const EXACT = JSON as unknown as ExactJson;

/** Whether it is a number as it was written, in place of one that no double holds. */
export const isExactNumber = (value: unknown): boolean => EXACT.isRawJSON(value);

/** Of fewer digits, and within what it reaches, a double holds them all. */
const MAY_CHANGE = /[\d.]{16}|[eE][+-]?\d{3}/;

/** The object of a JSON text that was read before, as `read`: the same one, unless a number in it is not exact. */
export function exactObject(text: string, read: JsonObject): JsonObject {
  if (!MAY_CHANGE.test(text)) return read;
  const exact = EXACT.parse(text, exactNumber);
  return isJsonObject(exact) ? exact : read;
}

/** The same value, read of a JSON text before: objects and lists that stand under one of these names are replaced by exact ones. */
export function withExact<T extends object>(text: string, read: T, names: readonly string[]): T {
  if (names.some((name) => text.includes(`"${name}"`)) && MAY_CHANGE.test(text))
    replaceUnder(read, EXACT.parse(text, exactNumber), names);
  return read;
}

/** Both were read of the same text, so that they differ in numbers alone. */
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

/** The value of a JSON text in which integers that a double may not hold, and all that is larger, are as they were written. */
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
