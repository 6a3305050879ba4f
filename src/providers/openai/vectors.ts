// Finds the vectors in an answer of the embeddings shape without parsing millions of numbers: each vector is cut out
// as text, and the rest is small.
import { isJsonObject } from "../../domain/read-value.ts";
import { Failure } from "../failure.ts";
import { readObject } from "../http/json.ts";

export interface Vectors {
  /** By the place of their input: a JSON list of numbers, or a base64 string, as it came. */
  list: string[];
  /** The body without them. */
  body: Record<string, unknown>;
}

/**
 * Splits a body with this many vectors. Throws `Failure` if it is malformed, or a vector is missing, duplicate or
 * malformed.
 */
export function vectorsIn(text: string, count: number): Vectors {
  const found: string[] = [];
  const rest: string[] = [];
  let at = 0;
  for (const { index, 0: key } of text.matchAll(/"embedding"\s*:\s*/g)) {
    if (index < at) throw broken("a vector within a vector");
    if (found.length === count) throw broken(`more vectors than ${count}`);
    const start = index + key.length;
    const end = endOf(text, start);
    rest.push(text.slice(at, start), String(found.length));
    found.push(text.slice(start, end));
    at = end;
  }
  rest.push(text.slice(at));
  const body = readObject(rest.join(""), "the upstream answered 200 with something");
  if (body["error"] || body["object"] === "error") throw broken("an error body");
  return { body, list: inPlace(body["data"], found, count) };
}

/** Returns the position after the value that begins there: no vector contains a bracket or a quote. */
function endOf(text: string, start: number): number {
  const last = text[start] === "[" ? "]" : text[start] === '"' ? '"' : null;
  const end = last === null ? -1 : text.indexOf(last, start + 1);
  if (end === -1) throw broken("something that is not a vector");
  return end + 1;
}

/** Returns each vector at the place that its entry names, or has. */
function inPlace(data: unknown, found: readonly string[], count: number): string[] {
  const entries: unknown[] = Array.isArray(data) ? data : [];
  if (entries.length !== count) throw broken(`${entries.length} vectors instead of ${count}`);
  const list: string[] = Array.from({ length: count }, () => "");
  for (const [place, entry] of entries.entries()) {
    const { embedding, index = place } = isJsonObject(entry) ? entry : {};
    const vector = typeof embedding === "number" ? found[embedding] : undefined;
    if (vector === undefined || !VECTOR.test(vector)) throw broken("something that is not a vector");
    if (typeof index !== "number" || list[index] !== "") throw broken("a vector with a wrong index");
    list[index] = vector;
  }
  return list;
}

/** Numbers, or base64. */
const VECTOR = /^(?:\[(?:\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[,\]])+|"[A-Za-z\d+/]+={0,2}")$/;

const broken = (what: string): Failure =>
  new Failure("broken", "unknown", `the upstream answered 200 with ${what}`);
