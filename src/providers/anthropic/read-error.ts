// Converts an error as the vendor and its envelopes report it to the one error that all shapes share (wire.md §8.3).
import { isJsonObject } from "../../domain/read-value.ts";
import type { UpstreamError } from "../codec.ts";
import type { FailureCause } from "../failure.ts";
import { readJson } from "../http/json.ts";
import { errorOf } from "../openai/read-error.ts";

/** The meaning of a type, whatever the status; for the others, the status or the words decide. */
const MEANS: Record<string, FailureCause> = {
  overloaded_error: "unavailable",
  rate_limit_error: "rate_limited",
  billing_error: "quota",
  timeout_error: "server",
  api_error: "server",
};

/** The caller's name for one of the vendor's fields. */
const FIELDS: Record<string, string> = {
  stop_sequences: "stop",
  metadata: "user",
  input_schema: "tools",
};
/** Fields within `output_config`. */
const OUTPUTS: Record<string, string> = { format: "response_format", effort: "reasoning_effort" };

const PATH = /^([a-z_]+)(?:\.([\w-]{1,64}))?(?:\.[\w-]{1,64}){0,8}: /;

/** Reads the body of an error response; everything is empty if it is not of this shape. */
export const readClaudeError = (text: string): UpstreamError => claudeError(readJson(text));

/** `body` is parsed, of any shape: a proxy in between may have written it. */
export function claudeError(body: unknown): UpstreamError {
  const told = errorOf(body); // Google's and Azure's front ends use their usual form
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

/** A limit that our own account set for itself, reported as an invalid request. */
const OURS_SPENT = /^you have reached your specified (workspace )?api usage limits/i;

/**
 * `messages.3.content.0.text: …` begins with the field that it is about; its places are the caller's only if the body
 * is.
 */
function paramOf(message: string): string | null {
  const [, name = "", within = ""] = PATH.exec(message) ?? [];
  if (name === "") return null;
  return name === "output_config" ? (OUTPUTS[within] ?? null) : (FIELDS[name] ?? name);
}
