// `finish_reason` of the OpenAI shape; an unknown one is `stop`, a provider's own failure is none (wire.md §2).
import { Failure } from "./failure.ts";
import type { FinishReason } from "./provider.ts";

/** Throws `Failure` where the word means that the provider failed. */
export function readFinishReason(word: string): FinishReason {
  switch (word) {
    case "length":
    case "tool_calls":
    case "content_filter":
      return word;
    case "function_call":
      return "tool_calls";
    case "error":
    case "insufficient_system_resource":
      throw new Failure("unavailable", "unknown", `the upstream gave up: ${word}`);
    default:
      return "stop";
  }
}
