// Why an answer ended, in the vendor's words.
import type { FinishReason } from "../../../providers/provider.ts";

export const STOP_REASONS: Record<FinishReason, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};
