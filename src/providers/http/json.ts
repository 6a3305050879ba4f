// A provider's JSON text, read no deeper than anything downstream can print: `JSON.parse` takes a hundred thousand nested
// lists, and everything that walks or prints them afterwards runs out of stack.
import { withExact } from "../../domain/exact-json.ts";
import { outlineOf } from "../../domain/json-outline.ts";
import { isJsonObject, type JsonObject } from "../../domain/read-value.ts";
import { Failure } from "../failure.ts";

/** Far above what any provider nests, far below what a stack holds. */
const DEPTH_MAX = 256;

/**
 * The text as one JSON object. Throws `Failure` `broken`, beginning with `what`, for anything else. What stands under one of
 * the names `exact`, at any depth, has its numbers as they were written.
 */
export function readObject(text: string, what: string, exact: readonly string[] = []): JsonObject {
  const value = readJson(text);
  if (value === undefined)
    throw new Failure("broken", "unknown", `${what} that is not JSON, or nested too deeply`);
  if (!isJsonObject(value)) throw new Failure("broken", "unknown", `${what} that is not an object`);
  return withExact(text, value, exact);
}

/** The text as a JSON value; undefined when it is none, or is nested too deeply. */
export function readJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Without parsing. Text that is too short to close as many brackets is not looked at: most events are. */
const nestsTooDeep = (text: string): boolean =>
  text.length > 2 * DEPTH_MAX && outlineOf(Buffer.from(text), { depth: DEPTH_MAX }) === null;
