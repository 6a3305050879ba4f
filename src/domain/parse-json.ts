// Decodes a request body strictly (wire.md §4.1, hardening.md §2.4): what `JSON.parse` would accept and then guess
// about (duplicate keys, lone surrogates, NUL, numbers it cannot hold, bottomless nesting) is refused here, so every
// room below may trust strings and numbers. Below the top, no object has an own `__proto__`.
import { withLargeNumbers } from "./exact-json.ts";
import { type Outline, outlineOf } from "./json-outline.ts";
import { isJsonObject } from "./read-value.ts";
import { Refusal } from "./refusals.ts";
import { FIELDS_MAX, type ReceivedBody, tooManyValues, VALUES_MAX } from "./received-body.ts";
import { WrittenLists } from "./written-lists.ts";

const MAX_JSON_DEPTH = 64;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Where a request holds what others wrote and read, by the names on the way there: schemas and arguments of tools. Numbers
 * inside may be larger than we hold; they are never looked at here.
 */
const OPAQUE: ReadonlySet<string> = new Set([
  "messages.content.input",
  "output_config.format.schema",
  "response_format.json_schema.schema",
  "text.format.schema",
  "tools.function.parameters",
  "tools.input_examples",
  "tools.input_schema",
  "tools.parameters",
  "tools.tools.parameters",
]);

/**
 * Reads the bytes of a body as one JSON value. Throws the refusal `invalid_json` for anything else, and `too_many_values` for more
 * members or values than any body may have.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const { value, large } = read(bytes, outlineOf(bytes, { members: FIELDS_MAX, values: VALUES_MAX }));
  if (large) throw tooLarge();
  inspect(bytes, value);
  return value;
}

/** A request as its bytes say it. */
export interface ReadRequest {
  value: unknown;
  /** Of a large object; null for any other. It refers to the bytes. */
  written: WrittenLists | null;
}

/** The same for a request to a model: numbers that are too large go through as they were written (`exact-json.ts`), where it is opaque. */
export function parseRequestJson(body: ReceivedBody): ReadRequest {
  const { text, value: parsed, large } = read(body.bytes, body.outline());
  const value = large ? withOpaqueNumbers(text, parsed) : parsed;
  inspect(body.bytes, value);
  return { value, written: large ? null : writtenLists(body, value) };
}

interface Read {
  text: string;
  value: unknown;
  /** There are numbers that JSON text can say and we cannot hold. */
  large: boolean;
}

function read(bytes: Uint8Array, outline: Outline | null): Read {
  const text = decode(bytes);
  if (outline === null) throw tooManyValues();
  // Before `JSON.parse`, which recurses.
  if (outline.depth > MAX_JSON_DEPTH) throw tooDeep();
  const numbers = { large: false };
  const value = parse(text);
  // A repeated key collapses in the parsed value, so its members are fewer than the colons that were written.
  if (countMembers(value, numbers) !== outline.members)
    throw invalidJson("an object has the same key twice", "Send each key once.");
  return { text, value, large: numbers.large };
}

/** Null where little is taken over: then its bytes are not kept. */
function writtenLists({ bytes, spans }: ReceivedBody, value: unknown): WrittenLists | null {
  if (spans === null || 2 * spans.plainBytes <= bytes.byteLength || !isJsonObject(value)) return null;
  // As a name it has gone from the value; spelled with an escape, it is not taken over either.
  if (asked(bytes).includes('"__proto__"')) return null;
  return new WrittenLists(bytes, value, spans.lists);
}

/** The bytes are searched six times as fast as the text. */
const asked = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function inspect(bytes: Uint8Array, value: unknown): void {
  const text = asked(bytes);
  if (text.includes("\\u") || text.includes("__proto__")) inspectStrings(value, "top");
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

/** Counts the members of all objects in the value, and notes whether there are numbers that JSON text can say and we cannot hold. */
function countMembers(value: unknown, numbers: { large: boolean }): number {
  if (typeof value === "number" && isLarge(value)) numbers.large = true;
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, numbers);
    return members;
  }
  const object = value as Record<string, unknown>;
  // Twice as fast as `Object.keys`: all names are its own, as JSON wrote them.
  for (const key in object) members += 1 + countMembers(object[key], numbers);
  return members;
}

const isLarge = (value: number): boolean =>
  value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER;

const tooDeep = (): Refusal =>
  invalidJson(`it is nested deeper than ${MAX_JSON_DEPTH} levels`, "Flatten it.");

const tooLarge = (): Refusal =>
  invalidJson("a number lies beyond 2^53 - 1", "Send a smaller number, or such a value as a string.");

/** The value of the text with its large numbers as they were written. */
function withOpaqueNumbers(text: string, value: unknown): unknown {
  requireOpaque(value, "");
  return withLargeNumbers(text);
}

/** Refuses large numbers that stand elsewhere, and those that nobody can read. `path`: the names on the way to the value. */
function requireOpaque(value: unknown, path: string | null): void {
  if (typeof value === "number" && isLarge(value) && (path !== null || !Number.isFinite(value)))
    throw tooLarge();
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) requireOpaque(item, path);
    return;
  }
  const object = value as Record<string, unknown>;
  const opaque = path === null || OPAQUE.has(path);
  for (const key of Object.keys(object))
    requireOpaque(object[key], opaque ? null : path === "" ? key : `${path}.${key}`);
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
