// Reads a non-streamed body of the OpenAI shape as one chunk of a stream. A 200 that holds an error is a broken
// upstream and proves nothing about the call (wire.md §8.3).
import { isJsonObject } from "../../domain/read-value.ts";
import { Failure } from "../failure.ts";
import { readObject } from "../http/json.ts";
import { EXACT } from "./tool-calls.ts";

/** Throws `Failure` if the text is not an answer. */
export function wholeAsChunk(text: string): Record<string, unknown> {
  const body = readObject(text, "the upstream answered 200 with something", EXACT);
  if (body["error"] || body["object"] === "error")
    throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
  const choices = Array.isArray(body["choices"]) ? (body["choices"] as unknown[]).filter(isJsonObject) : [];
  choices.forEach(complete);
  body["choices"] = choices;
  return body;
}

/**
 * A whole body needs no other proof of its end, so a missing or unreadable reason is `stop`; a missing index is the
 * place in the list.
 */
function complete(choice: Record<string, unknown>, place: number): void {
  choice["index"] ??= place;
  if (typeof choice["finish_reason"] !== "string" || choice["finish_reason"] === "")
    choice["finish_reason"] = "stop";
}
