// JSON configurations that people write by hand: read as strictly as a request body, written with their own
// indentation.
import { parseJson } from "../../src/domain/parse-json.ts";
import { isJsonObject } from "../../src/domain/read-value.ts";

export type Members = Record<string, unknown>;

/** Null if the text is not plain JSON: comments, trailing commas, duplicate keys. */
export function read(text: string): unknown {
  try {
    return parseJson(new TextEncoder().encode(text));
  } catch {
    return null; // the caller says what to do about it
  }
}

export const membersOf = (value: unknown): Members | null => (isJsonObject(value) ? value : null);

export const indentOf = (text: string): string => /^\{\r?\n([ \t]+)"/.exec(text.trimStart())?.[1] ?? "  ";

export const print = (value: unknown, indent = "  "): string => `${JSON.stringify(value, null, indent)}\n`;
