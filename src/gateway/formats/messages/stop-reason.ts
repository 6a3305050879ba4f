// Why an answer ended, in the vendor's terms.
import type { FinishReason } from "../../../providers/provider.ts";

export const STOP_REASONS: Record<FinishReason, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};
