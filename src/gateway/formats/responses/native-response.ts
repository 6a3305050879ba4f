// The `response` object as an upstream of this very shape sends it, under our names and with our figures; the rest is its own.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { AnswerHead } from "../format.ts";
import { responseId } from "./response-object.ts";

/** JSON text each. */
interface Figures {
  usage: string;
  gateway: string;
}

/** Prints a vendor's response; `ours` replaces its members of the same names. */
export function printNativeResponse(
  told: JsonObject,
  { head, body, ours = {} }: { head: AnswerHead; body: JsonObject; ours?: JsonObject },
  { usage, gateway }: Figures,
): string {
  const id = responseId(head.requestId);
  const response: JsonObject = {
    ...told,
    id,
    object: "response",
    model: head.model,
    ...ours,
    usage: undefined,
    gateway: undefined,
  }; // those come last
  // The caller's own values, which went upstream as hashes, or not at all.
  if ("metadata" in told) response.metadata = body.metadata ?? {};
  if ("prompt_cache_key" in told) response.prompt_cache_key = body.prompt_cache_key ?? null;
  if ("safety_identifier" in told) response.safety_identifier = body.safety_identifier ?? null;
  if ("user" in told) response.user = body.user ?? undefined;
  return `${wireJson(response).slice(0, -1)},"usage":${usage},"gateway":${gateway}}`;
}

/** `response` of an event; empty if it has none. */
export const responseIn = ({ response }: JsonObject): JsonObject => (isJsonObject(response) ? response : {});
