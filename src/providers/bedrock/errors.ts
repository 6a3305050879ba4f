// Converts refusals and exceptions of Bedrock to the one error that all shapes share (wire.md §8.3). Inside a stream,
// an exception's name stands for the status.
import { isJsonObject } from "../../domain/read-value.ts";
import type { UpstreamError } from "../codec.ts";
import { readJson } from "../http/json.ts";

/** From the vendor's own table of errors. */
const STATUSES: Record<string, number> = {
  accessdenied: 403,
  conflict: 400,
  expiredtoken: 403,
  internalserver: 500,
  modelerror: 424,
  modelnotready: 429,
  modelstreamerror: 424,
  modeltimeout: 408,
  resourcenotfound: 404,
  servicequotaexceeded: 429,
  serviceunavailable: 503,
  throttling: 429,
  unrecognizedclient: 403,
  validation: 400,
};

/** The caller's names of settings that a vendor's constraint may name. */
const FIELDS: readonly [RegExp, string][] = [
  [/^inferenceconfig\.temperature\b/i, "temperature"],
  [/^inferenceconfig\.topp\b/i, "top_p"],
  [/^inferenceconfig\.stopsequences\b/i, "stop"],
  [/^inferenceconfig\.maxtokens\b/i, "max_tokens"],
  [/^messages\b/i, "messages"],
  [/^system\b/i, "system"],
  [/^toolconfig\.toolchoice\b/i, "tool_choice"],
  [/^toolconfig\b/i, "tools"],
  [/^outputconfig\b/i, "response_format"],
];

/** Reads the body of an error response; its status says the rest. */
export const readRefusal = (text: string): UpstreamError => errorOf(readJson(text), "");

/** Reads an exception frame, or an `error` at the end of a stream. */
export function exceptionOf(type: string, payload: string): UpstreamError {
  const body = readJson(payload);
  const error = errorOf(isJsonObject(body) ? body : { message: payload }, type);
  return { ...error, status: STATUSES[error.code.replace(/(Exception|Error)$/, "").toLowerCase()] ?? 0 };
}

function errorOf(body: unknown, type: string): UpstreamError {
  const told = isJsonObject(body) ? body : {};
  const word = type || told["__type"] || told["code"];
  const message = told["message"] ?? told["Message"] ?? told["originalMessage"];
  const said = typeof message === "string" ? message : "";
  return {
    status: 0,
    // `com.amazon.coral.service#ThrottlingException`
    code: typeof word === "string" ? word.replace(/^.*#/, "") : "",
    message: said,
    param: paramOf(said),
    retryAfterMs: null,
  };
}

/** `Value '2' at 'inferenceConfig.temperature' failed to satisfy constraint: …` */
function paramOf(message: string): string | null {
  const path = /\bat '([\w.]{1,100})' failed to satisfy/.exec(message)?.[1] ?? "";
  return FIELDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
