// `stopReason` of Converse in our words (wire.md §8.2); an unknown one is `stop`, a model's own failure is none.
import { Failure } from "../failure.ts";
import type { FinishReason } from "../provider.ts";

/** Throws `Failure` where the word means that the model failed. */
export function readStopReason(word: string): FinishReason {
  switch (word) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_calls";
    case "content_filtered":
    case "guardrail_intervened":
      return "content_filter";
    case "malformed_model_output":
    case "malformed_tool_use":
      throw new Failure("server", "unknown", `the upstream gave up (${word})`);
    default:
      return "stop";
  }
}
