// The `response` object as an upstream of this very shape tells it, under our names and with our figures: the rest is its own.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { AnswerHead } from "../format.ts";
import { responseId } from "./response-object.ts";

/** The caller's own words, which went upstream as hashes, or not at all. */
const OWN = ["metadata", "prompt_cache_key", "safety_identifier", "user"] as const;

/** JSON text each. */
interface Figures {
  usage: string;
  gateway: string;
}

/** Prints a vendor's response; `ours` stands in the place of what it says of the same. */
export function printNativeResponse(
  told: JsonObject,
  { head, body, ours = {} }: { head: AnswerHead; body: JsonObject; ours?: JsonObject },
  { usage, gateway }: Figures,
): string {
  const { gateway: _none, usage: _theirs, ...rest } = told;
  const response: JsonObject = { ...rest, id: responseId(head.requestId), model: head.model, ...ours };
  for (const name of OWN)
    if (Object.hasOwn(rest, name)) response[name] = body[name] ?? (name === "metadata" ? {} : null);
  if (response.user === null) delete response.user;
  return `${wireJson(response).slice(0, -1)},"usage":${usage},"gateway":${gateway}}`;
}

/** `response` of an event; nothing where it has none. */
export function responseIn(data: string): JsonObject {
  const event: unknown = JSON.parse(data);
  return isJsonObject(event) && isJsonObject(event.response) ? event.response : {};
}
