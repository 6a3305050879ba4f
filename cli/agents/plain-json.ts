// Configurations in JSON that people write by hand: read as strictly as a request's body, written with their indentation.
import { parseJson } from "../../src/domain/parse-json.ts";
import { isJsonObject } from "../../src/domain/read-value.ts";

export type Members = Record<string, unknown>;

/** Null for what is not plain JSON: comments, commas too many, a key twice. */
export function read(text: string): unknown {
  try {
    return parseJson(new TextEncoder().encode(text));
  } catch {
    return null; // whoever asks says what to do about it
  }
}

export const membersOf = (value: unknown): Members | null => (isJsonObject(value) ? value : null);

export const indentOf = (text: string): string => /^\{\r?\n([ \t]+)"/.exec(text.trimStart())?.[1] ?? "  ";

export const print = (value: unknown, indent = "  "): string => `${JSON.stringify(value, null, indent)}\n`;
