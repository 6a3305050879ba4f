// Which fields of a Responses request go upstream as their caller wrote them (wire.md §8.3), by a provider's names for them: those
// of this shape, and those of the shapes into which it is translated.
import type { ChatRequest } from "../../../domain/chat-request.ts";

/** Fields set here, or sent as a hash. */
const CHANGED = new Set(["model", "stream", "store", "user", "safety_identifier", "prompt_cache_key"]);

/** By a provider's name: the place in the caller's body that a provider's refusal is reported at. */
export function sentFieldsOf(request: ChatRequest): ReadonlyMap<string, string> {
  const sent = new Map([
    ["system", typeof request.native?.body["instructions"] === "string" ? "instructions" : "input"],
    ["messages", "input"],
    ["input", "input"],
  ]);
  const { forwarded, applied, native } = request;
  for (const name of [...Object.keys(forwarded), ...Object.keys(applied)]) sent.set(name, name);
  for (const name of Object.keys(native?.body ?? {})) if (!CHANGED.has(name)) sent.set(name, name);
  if (forwarded.verbosity !== undefined) sent.set("verbosity", "text.verbosity");
  if (request.reasoning !== null) sent.set("reasoning_effort", "reasoning.effort");
  if (request.responseFormat !== null) sent.set("response_format", "text.format");
  if (request.maxTokens !== null)
    for (const name of ["max_tokens", "max_completion_tokens", "max_output_tokens"])
      sent.set(name, "max_output_tokens");
  return sent;
}
