// Checks of a body as a whole that every surface makes (wire.md §1).
import { clip, echo, found, invalid, isJsonObject, isPresent, type JsonObject } from "./read-value.ts";
import { Refusal } from "./refusals.ts";

/** Throws a `Refusal` for any JSON value but an object. */
export function objectBody(decoded: unknown): JsonObject {
  if (isJsonObject(decoded)) return decoded;
  throw new Refusal("invalid_request", "The request body must be one JSON object.");
}

/** Throws a `Refusal` for the first field that is missing. */
export function requireFields(body: JsonObject, names: readonly string[]): void {
  for (const name of names)
    if (!isPresent(body[name])) throw invalid(null, name, `is required, ${found(undefined)}.`);
}

export const unknownField = (name: string): Refusal =>
  new Refusal("unknown_parameter", `Unknown parameter: ${echo(name)}. Remove it, or check its spelling.`, {
    param: clip(name),
  });
