// `finishReason` of Gemini; an unknown one is `stop`, a failure of its own is none (wire.md §8.2).
import { Failure } from "../failure.ts";
import type { FinishReason } from "../provider.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const FILTERED = words(
  "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE MODEL_ARMOR " +
    "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
);
/** It could not say what it meant to: there is no answer in it to give. */
const FAILED = words(
  "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE " +
    "NO_IMAGE IMAGE_OTHER",
);

/** Throws `Failure` where the word means that the model failed. */
export function geminiFinish(word: string): FinishReason {
  if (word === "STOP") return "stop";
  if (word === "MAX_TOKENS" || word === "CONTINUATION") return "length";
  if (FILTERED.has(word)) return "content_filter";
  if (FAILED.has(word))
    throw new Failure("server", "unknown", `the upstream gave up (${word.toLowerCase()})`);
  return "stop";
}
