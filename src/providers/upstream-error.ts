// What an upstream's refusal means (wire.md §8.3): the cause, and whether it proves that nothing ran. A status decides
// alone; words only tell the kinds of 400 apart, and error events that have no status. Provider texts stay here: they may
// quote keys or prompts (S14, S36).
import { Failure, type FailureCause } from "./failure.ts";
import { isObject } from "./usage.ts";

interface Said {
  /** 0 = none. */
  status: number;
  /** The provider's own words for the kind of error, joined. */
  code: string;
  message: string;
}

/** The failure behind a reply that is not 200; `text` is null when its body did not arrive whole. */
export function failureOfReply({ status, headers }: Response, text: string | null): Failure {
  const id = headers.get("x-request-id")?.slice(0, 200) ?? null;
  if (text === null)
    return new Failure("broken", "unknown", `the upstream's answer ${status} was cut`, { status, id });
  const retryAfterMs = retryAfter(headers) ?? retryInfo(text);
  return failureOf(readError(parsed(text), status), {
    status,
    id,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
}

/** The failure behind an error event inside a stream that began with 200: by its type, like a reply. */
export function failureOfEvent(error: unknown): Failure {
  return failureOf(readError(error, 0), {});
}

function failureOf(said: Said, upstream: Failure["upstream"]): Failure {
  const reason = causeOf(said);
  const word = /^[\w.-]{1,64}/.exec(said.code)?.[0] ?? "no code";
  const what = said.status > 0 ? `${said.status} (${word})` : `an error event (${word})`;
  return new Failure(
    reason,
    PROVES_NOTHING.has(reason) ? "unknown" : "no",
    `the upstream answered ${what}`,
    upstream,
  );
}

const PROVES_NOTHING: ReadonlySet<FailureCause> = new Set(["server", "broken", "timeout"]);

function causeOf(said: Said): FailureCause {
  const { status } = said;
  if (status === 0) return causeOfWords(said);
  if (status === 429) return "rate_limited";
  if (status === 503 || status === 529) return "unavailable";
  if (status === 408 || status === 424 || status >= 500) return "server";
  if (status < 400) return "broken"; // 3xx is never followed; 204 holds no answer
  if (status === 401 || status === 402 || status === 403) return "account";
  if (status === 404) return "rejected";
  if (isAboutContext(said)) return "context_length";
  if (isAboutPolicy(said)) return "content_filter";
  return /rate_?limit|throttl/i.test(said.code) ? "rate_limited" : "rejected";
}

/** Of an event: its type is all there is. A word that is not known proves nothing. */
function causeOfWords(said: Said): FailureCause {
  const { code } = said;
  if (isAboutContext(said)) return "context_length";
  if (isAboutPolicy(said)) return "content_filter";
  if (/rate_?limit|too_?many_?requests|throttl|resource_?exhausted|quota/i.test(code)) return "rate_limited";
  if (/overloaded|unavailable|not_?ready/i.test(code)) return "unavailable";
  if (/authentication|permission|billing|payment|api_?key|credit/i.test(code)) return "account";
  return /invalid_?request|not_?found|unsupported|invalid_?argument/i.test(code) ? "rejected" : "server";
}

const isAboutContext = ({ code, message }: Said): boolean =>
  /context_?(length|window|size)/i.test(code) ||
  /context[ _-]?(length|window|size|limit)|maximum context|too many tokens|(prompt|input|request) (is|was) too (long|large)|reduce the length|input length .*exceed|exceeds? the (maximum|max|model)\b.*\btokens?/i.test(
    message,
  );

const isAboutPolicy = ({ code, message }: Said): boolean =>
  /content_?(filter|policy)|responsible_?ai|safety|moderation/i.test(code) ||
  /(content|usage)( management)? polic(y|ies)/i.test(message);

/** The error object, wherever the provider puts it: under `error`, or as the body itself. */
function readError(body: unknown, status: number): Said {
  const error = isObject(body) ? (body["error"] ?? body) : body;
  if (typeof error === "string") return { status, code: "", message: error };
  if (!isObject(error)) return { status, code: "", message: "" };
  const inner = isObject(error["innererror"]) ? error["innererror"] : {};
  const words = [error["code"], error["type"], error["status"], inner["code"]];
  return {
    status: status === 0 ? statusAmong(words) : status,
    code: words.filter((word) => typeof word === "string").join(" "),
    message: typeof error["message"] === "string" ? error["message"] : "",
  };
}

/** OpenRouter and others put the HTTP status into the event, as number or as digits. */
function statusAmong(words: unknown[]): number {
  const status = words.map(Number).find((word) => Number.isInteger(word) && word >= 400 && word < 600);
  return status ?? 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // HTML and the like: the status alone speaks
  }
}

const RETRY_AFTER_MAX_MS = 3_600_000;

/** `retry-after-ms`, or `Retry-After` in seconds or as a date; milliseconds. */
function retryAfter(headers: Headers): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return Math.min(Math.ceil(ms), RETRY_AFTER_MAX_MS);
  const value = headers.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds)
    ? Math.min(Math.max(0, Math.ceil(seconds) * 1000), RETRY_AFTER_MAX_MS)
    : null;
}

/** Google's `RetryInfo.retryDelay`, "34.4s": rounded up to whole seconds. */
function retryInfo(text: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1];
  return seconds === undefined ? null : Math.min(Math.ceil(Number(seconds)) * 1000, RETRY_AFTER_MAX_MS);
}
