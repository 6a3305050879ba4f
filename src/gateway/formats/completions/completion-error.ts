// Errors of this surface in OpenAI's envelope: what shared code calls messages is its prompt.
import { printError } from "../../../domain/error-body.ts";
import { Refusal } from "../../../domain/refusals.ts";

/** Changes only what is printed: headers are those of the original refusal. */
function ofPrompt(refusal: Refusal): Refusal {
  const { code, message, details, type, param } = refusal;
  if (param !== "messages") return refusal;
  return new Refusal(code, message.replaceAll("the messages", "the prompt"), {
    param: "prompt",
    type,
    ...(details && { details }),
  });
}

/** JSON text of the body; `gateway` is JSON text too, null if the key was not valid. */
export const printCompletionError = (refusal: Refusal, requestId: string, gateway: string | null): string =>
  // An unknown parameter keeps the caller's own name.
  printError(refusal.code === "unknown_parameter" ? refusal : ofPrompt(refusal), requestId, gateway);
