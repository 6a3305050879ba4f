// An error as the vendor and its envelopes tell it, as the one error that all shapes share (wire.md §8.3).
import { isJsonObject } from "../../domain/read-value.ts";
import type { UpstreamError } from "../codec.ts";
import type { FailureCause } from "../failure.ts";
import { readJson } from "../http/json.ts";
import { errorOf } from "../openai/read-error.ts";

/** What a type means whatever the status beside it says; the others are as their status, or their words. */
const MEANS: Record<string, FailureCause> = {
  overloaded_error: "unavailable",
  rate_limit_error: "rate_limited",
  billing_error: "quota",
  timeout_error: "server",
  api_error: "server",
};

/** The caller's name for a field of ours. */
const FIELDS: Record<string, string> = {
  stop_sequences: "stop",
  metadata: "user",
  input_schema: "tools",
};
/** Within `output_config`. */
const OUTPUTS: Record<string, string> = { format: "response_format", effort: "reasoning_effort" };

const PATH = /^([a-z_]+)(?:\.([\w-]{1,64}))?(?:\.[\w-]{1,64}){0,8}: /;

/** What a refusing reply's body says; nothing where it is none of this shape. */
export const readClaudeError = (text: string): UpstreamError => claudeError(readJson(text));

/** `body`: parsed, of whatever shape; a front in the way may have written it. */
export function claudeError(body: unknown): UpstreamError {
  const told = errorOf(body); // Google's and Azure's fronts speak as they do elsewhere
  const error = isJsonObject(body) && isJsonObject(body["error"]) ? body["error"] : {};
  const type = typeof error["type"] === "string" ? error["type"] : "";
  const cause = OURS_SPENT.test(told.message) ? "quota" : MEANS[type];
  const [place] = PATH.exec(told.message) ?? [];
  return {
    ...told,
    param: told.param ?? paramOf(told.message),
    ...(place !== undefined && { place: place.slice(0, -": ".length) }),
    ...(cause !== undefined && { cause }),
  };
}

/** A limit that our own account has set itself, told as an invalid request. */
const OURS_SPENT = /^you have reached your specified (workspace )?api usage limits/i;

/** `messages.3.content.0.text: …` begins with the field that it is about; places in it are the caller's only where the body is. */
function paramOf(message: string): string | null {
  const [, name = "", within = ""] = PATH.exec(message) ?? [];
  if (name === "") return null;
  return name === "output_config" ? (OUTPUTS[within] ?? null) : (FIELDS[name] ?? name);
}
