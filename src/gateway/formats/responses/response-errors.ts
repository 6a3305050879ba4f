// Errors of the Responses surface: before an answer in OpenAI's envelope, inside a stream as a response that failed; both with this
// surface's names.
import { printError } from "../../../domain/error-body.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { wireJson } from "../../../domain/wire-json.ts";

/** This surface's names for the fields of shared code. */
const FIELDS: Record<string, string> = {
  messages: "input",
  max_tokens: "max_output_tokens",
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  reasoning_effort: "reasoning.effort",
  logprobs: "include",
};
/** Where the message is more exact than the field. */
const WORDS: Record<string, string> = { ...FIELDS, logprobs: "message.output_text.logprobs" };
const FIELD =
  /(?<![\w.])(?:messages|max_tokens|max_completion_tokens|response_format|reasoning_effort|logprobs)(?!\w)/g;

const translated = (text: string): string => text.replace(FIELD, (name) => WORDS[name] ?? name);

/** A path into the neutral request is not a path of this body, but its field is. */
function paramOf(param: string | null): string | null {
  const [, field = "", rest = ""] = /^(\w+)(.*)$/s.exec(param ?? "") ?? [];
  const name = FIELDS[field];
  if (name === undefined) return param;
  return field === "messages" && rest !== "" ? name : name + rest;
}

/** Changes only what is printed: headers are those of the original refusal. An unknown field keeps the caller's own name. */
function inOurWords(refusal: Refusal): Refusal {
  const { code, message, details, type, param } = refusal;
  if (code === "unknown_parameter") return refusal;
  const told = { param: paramOf(param), type, ...(details && { details }) };
  return new Refusal(code, translated(message), told);
}

/** JSON text of the body of an answer that is not streamed; `gateway` is JSON text too, null if the key was not valid. */
export const printResponseError = (refusal: Refusal, requestId: string, gateway: string | null): string =>
  printError(inOurWords(refusal), requestId, gateway);

/** `error` of a response that failed. */
export function printFailure(refusal: Refusal): string {
  const { code, message, param, type } = inOurWords(refusal);
  return wireJson({ code, message, param, type });
}
