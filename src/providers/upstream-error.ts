// What an upstream's refusing reply means (wire.md §8.3): the cause, and whether the reply proves that nothing ran.
import { Failure, type FailureCause } from "./failure.ts";
import { isObject } from "./usage.ts";

interface Said {
  status: number;
  code: string;
  message: string;
}

/** The failure behind a complete reply that is not 200. */
export function failureOfReply(status: number, text: string, headers: Headers): Failure {
  const said = readError(parsed(text), status);
  const retryAfterMs = retryAfter(headers.get("retry-after")) ?? retryInfo(text);
  return failureOf(said, retryAfterMs);
}

/** The failure behind an error event inside a stream that began with 200: by its type, like a reply. */
export function failureOfEvent(error: unknown): Failure {
  return failureOf(readError({ error }, 0), null);
}

function failureOf(said: Said, retryAfterMs: number | null): Failure {
  const reason = causeOf(said);
  const executed = PROVES_NOTHING.has(reason) ? "unknown" : "no";
  return new Failure(
    reason,
    executed,
    `the upstream answered ${said.status || "an error event"}: ${said.message.slice(0, 300)}`,
    {
      ...(said.status > 0 && { status: said.status }),
      ...(retryAfterMs !== null && { retryAfterMs }),
    },
  );
}

const PROVES_NOTHING: ReadonlySet<FailureCause> = new Set(["server", "broken", "timeout"]);

function causeOf(said: Said): FailureCause {
  const { status } = said;
  if (status === 429 || /rate_?limit|too_many_requests|throttl/i.test(said.code)) return "rate_limited";
  if (status === 503 || status === 529 || /overloaded|unavailable/i.test(said.code)) return "unavailable";
  if (status === 408 || status === 424 || status >= 500) return "server";
  if (status >= 300 && status < 400) return "broken";
  if (status === 401 || status === 402 || status === 403) return "account";
  if (isAboutContext(said)) return "context_length";
  if (isAboutPolicy(said)) return "content_filter";
  return status >= 400 ? "rejected" : "server";
}

const isAboutContext = ({ code, message }: Said): boolean =>
  /context_length|context_window/i.test(code) ||
  /context (length|window|size)|maximum context|too many tokens|prompt is too long|input is too long|reduce the length/i.test(
    message,
  );

const isAboutPolicy = ({ code, message }: Said): boolean =>
  /content_(filter|policy)|responsible_?ai/i.test(code) || /content (management )?policy/i.test(message);

function readError(body: unknown, status: number): Said {
  const error = isObject(body) ? (body["error"] ?? body) : {};
  if (typeof error === "string") return { status, code: "", message: error };
  if (!isObject(error)) return { status, code: "", message: "no readable error" };
  const code = [error["code"], error["type"], error["status"]]
    .filter((word) => typeof word === "string")
    .join(" ");
  const numeric = [error["code"], error["status"]].find(
    (word) => typeof word === "number" && word >= 300 && word < 600,
  );
  return {
    status: status === 0 && typeof numeric === "number" ? numeric : status,
    code,
    message: typeof error["message"] === "string" ? error["message"] : "no message",
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // HTML and the like: the status alone speaks
  }
}

const RETRY_AFTER_MAX_MS = 3_600_000;

/** `Retry-After` in seconds or as a date, milliseconds. */
function retryAfter(value: string | null): number | null {
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
