// Converts an error of the OpenAI shape, wherever its many vendors put it, to the one error that all shapes share
// (wire.md §8.3).
import { isJsonObject } from "../../domain/read-value.ts";
import type { UpstreamError } from "../codec.ts";
import { readJson } from "../http/json.ts";

const PARAM_MAX = 100;
const NOTHING: UpstreamError = { status: 0, code: "", message: "", param: null, retryAfterMs: null };

/** Reads the body of an error response; everything is empty if it is not of this shape. */
export const readError = (text: string): UpstreamError => ({
  ...errorOf(readJson(text)),
  retryAfterMs: retryInfo(text),
});

/** Reads the error object, wherever the provider puts it: under `error`, or as the body itself. */
export function errorOf(body: unknown): UpstreamError {
  const whole: unknown = Array.isArray(body) ? body[0] : body; // Google's lists
  const error = isJsonObject(whole) ? (whole["error"] ?? whole) : whole;
  if (typeof error === "string") return { ...NOTHING, message: error };
  if (!isJsonObject(error)) return NOTHING;
  const inner = isJsonObject(error["innererror"]) ? error["innererror"] : {};
  const words = [error["code"], error["type"], error["status"], inner["code"]];
  return {
    ...NOTHING,
    status: statusAmong(words),
    code: words.filter((word) => typeof word === "string").join(" "),
    ...wordingOf(error),
  };
}

/** OpenRouter and others put the HTTP status into the event, as a number or as digits. */
function statusAmong(words: unknown[]): number {
  const status = words.map(Number).find((word) => Number.isInteger(word) && word >= 400 && word < 600);
  return status ?? 0;
}

interface Wording {
  message: string;
  /** The field that it names, as the provider writes it; null if it names none outside its message. */
  param: string | null;
}

/**
 * Finds the message and field wherever providers of the OpenAI shape put them, including FastAPI's and pydantic's
 * `detail`.
 */
function wordingOf(error: Record<string, unknown>): Wording {
  const { message, param } = error;
  const detail = isJsonObject(message) ? message["detail"] : (error["detail"] ?? error["errors"]);
  const first: unknown = Array.isArray(detail) ? detail[0] : detail;
  const named = typeof param === "string" && param !== "" ? param.slice(0, PARAM_MAX) : null;
  if (typeof message === "string" && message !== "") return { message, param: named };
  if (typeof first === "string") return { message: first, param: named };
  if (!isJsonObject(first)) return { message: "", param: named };
  const said = first["msg"] ?? first["message"];
  return { message: typeof said === "string" ? said : "", param: named ?? pathOf(first["loc"]) };
}

/** Prints `["body", "messages", 0, "content"]` as `messages[0].content`. */
function pathOf(loc: unknown): string | null {
  if (!Array.isArray(loc)) return null;
  const steps = loc.filter((step, at) => !(at === 0 && (step === "body" || step === "query")));
  const path = steps
    .map((step) => (typeof step === "number" ? `[${step}]` : typeof step === "string" ? `.${step}` : ""))
    .join("");
  return path.replace(/^\./, "").slice(0, PARAM_MAX) || null;
}

/** Reads Google's `RetryInfo.retryDelay`, such as "34.4s", rounded up to whole seconds. */
function retryInfo(text: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds)) * 1000;
}
