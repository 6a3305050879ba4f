// Why an answer ended, in the vendor's terms.
import { claudeFinish } from "../../../providers/anthropic/finish-reason.ts";
import type { FinishReason } from "../../../providers/provider.ts";

export const STOP_REASONS: Record<FinishReason, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/**
 * Returns the `stop_reason` of an answer that the vendor told: its last word with the meaning that the record keeps, which
 * says more than ours (`stop_sequence`, `model_context_window_exceeded`). `told`: its words, in order; none of them may fit.
 */
export const stopReasonOf = (reason: FinishReason, told: readonly string[]): string =>
  told.findLast((word) => claudeFinish(word) === reason) ?? STOP_REASONS[reason];
