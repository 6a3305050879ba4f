// `finishReason` of Gemini.
import { finishReader } from "../finish-reason.ts";

export const geminiFinish = finishReader({
  length: "MAX_TOKENS CONTINUATION",
  content_filter:
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE MODEL_ARMOR ESCALATION " +
    "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
  // The model could not produce what it meant to: there is no answer.
  no_answer:
    "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE " +
    "NO_IMAGE IMAGE_OTHER",
  // Our account may not use it, or has exceeded its quota.
  failed: "PUP_LIMITED_DISABLED",
});
