// `stop_reason` of the Anthropic shape; its other values (`end_turn`, `stop_sequence`, `pause_turn`) are `stop`.
import { finishReader } from "../finish-reason.ts";

export const claudeFinish = finishReader({
  length: "max_tokens model_context_window_exceeded",
  tool_calls: "tool_use",
  content_filter: "refusal",
});
