// JSON whose numbers go through as they were written: some that people and vendors write are held by no double.
import { isJsonObject, type JsonObject } from "./read-value.ts";

/** What the engine knows of JSON beyond its published types. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, at: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}
const EXACT = JSON as unknown as ExactJson;

/** Of fewer digits a double holds them all. */
const LONG_NUMBER = /\d{16}/;

/** The value of a JSON text, to be printed again: numbers that no double holds leave as they came. */
export const exactJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? EXACT.parse(text, exactNumber) : JSON.parse(text);

/** The object of a JSON text that was read before, as `read`: the same one, unless a number in it is not exact. */
export function exactObject(text: string, read: JsonObject): JsonObject {
  if (!LONG_NUMBER.test(text)) return read;
  const exact = EXACT.parse(text, exactNumber);
  return isJsonObject(exact) ? exact : read;
}

const exactNumber = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && String(value) !== source
    ? EXACT.rawJSON(source)
    : value;
