// Parses a provider's JSON text, with a bound on nesting: `JSON.parse` accepts a hundred thousand nested lists, but
// everything that walks or prints them afterwards would overflow the stack.
import { withExact } from "../../domain/exact-json.ts";
import { outlineOf } from "../../domain/json-outline.ts";
import { isJsonObject, type JsonObject } from "../../domain/read-value.ts";
import { Failure } from "../failure.ts";

/** Far deeper than any provider's JSON, far shallower than the stack allows. */
const DEPTH_MAX = 256;

/**
 * The text as one JSON object. Throws `Failure` `broken`, beginning with `what`, for anything else. Numbers in values
 * of members named in `exact`, at any depth, are kept as they were written.
 */
export function readObject(text: string, what: string, exact: readonly string[] = []): JsonObject {
  const value = readJson(text);
  if (value === undefined)
    throw new Failure("broken", "unknown", `${what} that is not JSON, or nested too deeply`);
  if (!isJsonObject(value)) throw new Failure("broken", "unknown", `${what} that is not an object`);
  return withExact(text, value, exact);
}

/** The text as a JSON value; undefined if it is not JSON or is nested too deeply. */
export function readJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Without parsing. A text too short to nest that deeply is not scanned, which includes most events. */
const nestsTooDeep = (text: string): boolean =>
  text.length > 2 * DEPTH_MAX && outlineOf(Buffer.from(text), { depth: DEPTH_MAX }) === null;
