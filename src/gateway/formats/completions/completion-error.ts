// Errors of this surface in OpenAI's envelope: what the rooms below call messages is its prompt.
import { printError } from "../../../domain/error-body.ts";
import { Refusal } from "../../../domain/refusals.ts";

/** As far as it is printed: headers are those of the refusal itself. */
function ofPrompt(refusal: Refusal): Refusal {
  const { code, message, details, type, param } = refusal;
  if (param !== "messages") return refusal;
  return new Refusal(code, message.replaceAll("the messages", "the prompt"), {
    param: "prompt",
    type,
    ...(details && { details }),
  });
}

/** JSON text of the body; `gateway` is JSON text too, null where the key was not good. */
export const printCompletionError = (refusal: Refusal, requestId: string, gateway: string | null): string =>
  // A field that is none here is one that the caller wrote.
  printError(refusal.code === "unknown_parameter" ? refusal : ofPrompt(refusal), requestId, gateway);
