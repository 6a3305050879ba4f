// `stopReason` of Converse.
import { finishReader } from "../finish-reason.ts";

export const converseFinish = finishReader({
  length: "max_tokens model_context_window_exceeded",
  tool_calls: "tool_use",
  content_filter: "content_filtered guardrail_intervened",
  no_answer: "malformed_model_output malformed_tool_use",
});

/** True if a guardrail replaced the model's words with its own; the model may not have run at all. */
export const isGuarded = (word: unknown): boolean => word === "guardrail_intervened";
