// `finish_reason` of the OpenAI shape, in any case.
import { finishReader } from "../finish-reason.ts";
import type { FinishReason } from "../provider.ts";

const read = finishReader({
  length: "length max_tokens model_length",
  tool_calls: "tool_calls function_call tool_use",
  content_filter: "content_filter safety sensitive",
  failed: "error network_error insufficient_system_resource",
});

/** Throws `Failure` if the word means that the provider failed. */
export const readFinishReason = (word: string): FinishReason => read(word.toLowerCase());
