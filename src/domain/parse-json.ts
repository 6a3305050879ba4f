// Decodes a request body strictly (wire.md §4.1, hardening.md §2.4): what `JSON.parse` would accept and then guess
// about (duplicate keys, lone surrogates, NUL, numbers it cannot hold, bottomless nesting) is refused here, so every
// room below may trust strings and numbers. Below the top, no object has an own `__proto__`.
import { Refusal } from "./refusals.ts";

const MAX_JSON_DEPTH = 64;

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the bytes of a body as one JSON value. Throws the refusal `invalid_json` for anything else. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  const membersWritten = countMembersWritten(text, MAX_JSON_DEPTH);
  if (membersWritten === null)
    throw invalidJson(`it is nested deeper than ${MAX_JSON_DEPTH} levels`, "Flatten it.");
  const value = parse(text);
  // A repeated key collapses in the parsed value, so its members are fewer than the colons that were written.
  if (countMembers(value) !== membersWritten)
    throw invalidJson("an object has the same key twice", "Send each key once.");
  if (mayHide(bytes)) inspectStrings(value, "top");
  return value;
}

/** Whether the slower look is needed; asked of the bytes, which are searched six times as fast as the text. */
function mayHide({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
  const written = Buffer.from(buffer, byteOffset, byteLength);
  return written.includes("\\u") || written.includes("__proto__");
}

function invalidJson(reason: string, next: string): Refusal {
  return new Refusal("invalid_json", `The request body is not acceptable JSON: ${reason}. ${next}`);
}

function decode(bytes: Uint8Array): string {
  if (bytes.length === 0) throw invalidJson("it is empty", "Send one JSON object.");
  try {
    const text = decoder.decode(bytes);
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  } catch {
    throw invalidJson("it is not valid UTF-8", "Encode the body as UTF-8.");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidJson(
      "it does not parse",
      "Look for a missing quote or brace, a trailing comma, or a cut-off end.",
    );
  }
}

/**
 * Counts the colons outside strings, which in valid JSON are the members of all objects; null for what is nested deeper
 * than `depthMax`, before anything recurses. The count means nothing for text that does not parse.
 */
export function countMembersWritten(text: string, depthMax: number): number | null {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at + 1);
        break;
      case COLON:
        members++;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > depthMax) return null;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
    }
  }
  return members;
}

/** Index of the quote that ends the string: the first one after an even number of backslashes. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let start = quote;
    while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start--;
    if ((quote - start) % 2 === 0) return quote;
  }
  return text.length;
}

/** Counts the members of all objects in the value, and refuses numbers that JSON text can say and we cannot hold. */
function countMembers(value: unknown): number {
  if (typeof value === "number") requireSafeNumber(value);
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item);
    return members;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) members += 1 + countMembers(object[key]);
  return members;
}

function requireSafeNumber(value: number): void {
  if (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) return;
  throw invalidJson("a number lies beyond 2^53 - 1", "Send a smaller number, or such a value as a string.");
}

/** The slower look, taken only when the text holds an escape that could hide NUL or half a character, or `__proto__`. */
function inspectStrings(value: unknown, level: "top" | "nested"): void {
  if (typeof value === "string") return requireCleanText(value);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) inspectStrings(item, "nested");
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    requireCleanText(key);
    inspectStrings(object[key], "nested");
    if (key === "__proto__" && level === "nested") delete object[key];
  }
}

function requireCleanText(text: string): void {
  if (text.includes("\0")) throw invalidJson("a string contains \\u0000", "Remove the NUL character.");
  if (!text.isWellFormed())
    throw invalidJson("a string contains half a surrogate pair", "Send the whole character, or remove it.");
}
