// Converts an error as Google's APIs report it, in an error response, a list of one, or an event, to the one error
// that all shapes share (wire.md §8.3).
import { HOUR_MS } from "../../domain/durations.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import type { UpstreamError } from "../codec.ts";
import type { FailureCause } from "../failure.ts";
import { readJson } from "../http/json.ts";

const NOTHING: UpstreamError = { status: 0, code: "", message: "", param: null, retryAfterMs: null };

/** Reads the body of an error response; everything is empty if it is not of this shape. */
export function readGeminiError(text: string): UpstreamError {
  const body = readJson(text);
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  return isJsonObject(whole) ? geminiError(whole["error"]) : NOTHING;
}

/** Reads the object under `error`. */
export function geminiError(error: unknown): UpstreamError {
  if (!isJsonObject(error)) return { ...NOTHING, message: typeof error === "string" ? error : "" };
  const { code, status, message } = error;
  const details = Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [];
  const reason = details.map(({ reason: word }) => word).find((word) => typeof word === "string");
  const words = typeof message === "string" ? message : "";
  const cause = causeOf(String(reason ?? ""), words);
  return {
    status: typeof code === "number" && code >= 400 && code < 600 ? code : 0,
    code: [status, reason].filter((word) => typeof word === "string").join(" "),
    message: words,
    param: paramOf(details, words),
    retryAfterMs: retryAfter(details),
    ...(cause !== null && { cause }),
  };
}

/** The causes that its statuses do not tell: an invalid key is a 400 there, and so is an unsupported country. */
function causeOf(reason: string, message: string): FailureCause | null {
  if (/^(API_KEY_|ACCESS_TOKEN_|BILLING_|CONSUMER_|SERVICE_DISABLED|USER_PROJECT_)/.test(reason))
    return "account";
  if (/^API key (not valid|expired)|^User location is not supported|^Permission 'aiplatform\./.test(message))
    return "account";
  // A file that the caller named, by an id that the caller chose.
  if (/^You do not have permission to access the File\b/.test(message)) return "rejected";
  if (/input token count\b.{0,60}\bexceeds the maximum/i.test(message)) return "context_length";
  return /^The (prompt|input image)\b.{0,80}\b(blocked|violat)/i.test(message) ? "content_filter" : null;
}

/** A daily quota comes back at the end of the day, whatever `RetryInfo` says. */
const DAY_RETRY_MS = HOUR_MS;

function retryAfter(details: readonly Record<string, unknown>[]): number | null {
  const delay = details.map(({ retryDelay }) => retryDelay).find((one) => typeof one === "string");
  const seconds = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(delay ?? "")?.[1];
  if (seconds === undefined) return null;
  const daily = details.some(({ violations }) => JSON.stringify(violations ?? "").includes("PerDay"));
  return daily ? DAY_RETRY_MS : Math.ceil(Number(seconds)) * 1000;
}

/** Places in the body, by the caller's names; those that the caller did not write that way are not listed. */
const PARAMS: readonly [RegExp, string][] = [
  [/^generation_?config\.top_?p$/i, "top_p"],
  [/^generation_?config\.temperature$/i, "temperature"],
  [/^generation_?config\.presence_?penalty$/i, "presence_penalty"],
  [/^generation_?config\.frequency_?penalty$/i, "frequency_penalty"],
  [/^generation_?config\.stop_?sequences/i, "stop"],
  [/^generation_?config\.candidate_?count$/i, "n"],
  [/^generation_?config\.(response_?(json_?)?schema)/i, "response_format"],
  [/^generation_?config\.max_?output_?tokens$/i, "max_tokens"],
  [/^system_?instruction\b/i, "system"],
  [/^(tools|tool_?config)\b/i, "tools"],
];

function paramOf(details: readonly Record<string, unknown>[], message: string): string | null {
  // None of their models issued it: it came from the caller, since those that we hand over are marked.
  if (/(corrupted|invalid) thought.?signature|thought.?signature is (not valid|invalid)/i.test(message))
    return "messages";
  const fields = details
    .flatMap(({ fieldViolations: list }) => (Array.isArray(list) ? (list as unknown[]) : []))
    .map((violation) => (isJsonObject(violation) ? violation["field"] : null));
  const quoted = /\b(?:generation_?config|tools|tool_?config|system_?instruction)[\w.[\]]*/i.exec(
    message,
  )?.[0];
  const valued = /^Unable to submit request because it has an? (\w{1,40}) value of /.exec(message)?.[1];
  for (const field of [...fields, quoted, valued && `generation_config.${valued}`])
    for (const [place, name] of PARAMS) if (typeof field === "string" && place.test(field)) return name;
  return message.startsWith("Penalty is not enabled") ? "presence_penalty" : null;
}
