// `finish_reason` of the OpenAI shape; an unknown one is `stop`, a provider's own failure is none (wire.md §2, §8.2).
import { Failure } from "../failure.ts";
import type { FinishReason } from "../provider.ts";

/** Throws `Failure` where the word means that the provider failed. */
export function readFinishReason(word: string): FinishReason {
  switch (word.toLowerCase()) {
    case "length":
    case "max_tokens":
    case "model_length":
      return "length";
    case "tool_calls":
    case "function_call":
    case "tool_use":
      return "tool_calls";
    case "content_filter":
    case "safety":
    case "sensitive":
      return "content_filter";
    case "error":
    case "network_error":
    case "insufficient_system_resource":
      throw new Failure("server", "unknown", `the upstream gave up (${word})`);
    default:
      return "stop";
  }
}
