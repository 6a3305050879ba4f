// `stop_reason` of the Anthropic shape; one that nobody knows is `stop` (wire.md §8.2).
import type { FinishReason } from "../provider.ts";

export function claudeFinish(word: string): FinishReason {
  switch (word) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_calls";
    case "refusal":
      return "content_filter";
    default:
      return "stop"; // end_turn, stop_sequence, pause_turn
  }
}
