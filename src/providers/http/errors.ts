// What an upstream's error response means (wire.md §8.3): the cause, and whether it proves that nothing ran. A status
// decides alone; words only distinguish the kinds of 400, and error events without a status. Provider texts stay
// here: they may quote keys or prompts (S14, S36).
import { HOUR_MS } from "../../domain/durations.ts";
import type { Codec, UpstreamError } from "../codec.ts";
import { Failure, type FailureCause, type UpstreamReply } from "../failure.ts";
import { contextFigures } from "./context-figures.ts";
import { fitToShow } from "./words.ts";

/**
 * Returns the failure behind a response other than 200; `text` is null if its body did not arrive whole. `secrets`
 * are redacted from the words that are kept.
 */
export function failureOfReply(
  { status, headers }: Response,
  text: string | null,
  { secrets, codec }: { secrets: readonly string[]; codec: ErrorCodec },
): Failure {
  const id = headers.get(codec.idHeader)?.slice(0, 200) ?? null;
  if (text === null)
    return new Failure("broken", "unknown", `the upstream's answer ${status} was cut`, { status, id });
  const error = codec.readError(text);
  const retryAfterMs = retryAfter(headers) ?? error.retryAfterMs;
  return failureOfError({ ...error, status, retryAfterMs }, secrets, { status, id });
}

export type ErrorCodec = Pick<Codec<unknown>, "idHeader" | "readError">;

/** How many of its characters are searched for its meaning: an event may have megabytes of them, or quote a prompt. */
const CHARACTERS_READ = 8_000;

/** Returns the failure behind an error, also one inside a stream that began with 200: by its type, like a response. */
export function failureOfError(
  told: UpstreamError,
  secrets: readonly string[],
  reply: UpstreamReply = {},
): Failure {
  const error = {
    ...told,
    code: told.code.slice(0, CHARACTERS_READ),
    message: told.message.slice(0, CHARACTERS_READ),
  };
  const reason = error.cause ?? causeOf(error);
  const word = /^[\w.-]{1,64}/.exec(error.code)?.[0] ?? "no code";
  const what = error.status > 0 ? `${error.status} (${word})` : `an error event (${word})`;
  const retryAfterMs = error.retryAfterMs === null ? null : Math.min(error.retryAfterMs, RETRY_AFTER_MAX_MS);
  return new Failure(reason, PROVES_NOTHING.has(reason) ? "unknown" : "no", `the upstream answered ${what}`, {
    ...reply,
    ...(retryAfterMs !== null && { retryAfterMs }),
    ...wordsOf(error, secrets),
    ...(reason === "context_length" && figuresOf(error)),
  });
}

function wordsOf(error: UpstreamError, secrets: readonly string[]): UpstreamReply {
  const words = fitToShow([error.code, error.message].filter((one) => one !== "").join(": "), secrets);
  return {
    ...(words !== null && { words }),
    ...(error.param !== null && { param: error.param }),
    ...(error.place !== undefined && { place: error.place }),
    ...(isUnknownField(error) && { unknownField: true }),
  };
}

function figuresOf({ message }: UpstreamError): UpstreamReply {
  const context = contextFigures(message);
  return context === null ? {} : { context };
}

const isUnknownField = ({ code, message }: UpstreamError): boolean =>
  /(unsupported|unknown|unrecognized|unexpected)_(parameter|field|argument|key)|extra_forbidden/i.test(
    code,
  ) ||
  /(unsupported|unknown|unrecognized|unexpected) (request )?(parameter|field|argument|keyword)|extra inputs are not permitted|(parameter|field|argument|property)\b.{0,60}\b(is|are) (not|un)[ -]?(supported|known|recognized|allowed|permitted)/i.test(
    message,
  );

const PROVES_NOTHING: ReadonlySet<FailureCause> = new Set(["server", "broken", "timeout"]);

function causeOf(error: UpstreamError): FailureCause {
  const { status } = error;
  if (status === 0) return causeOfWords(error);
  if (status >= 400 && status < 500 && isAboutQuota(error)) return "quota";
  if (status === 429) return "rate_limited";
  if (status === 503 || status === 529) return "unavailable";
  if (status === 408 || status === 424 || status >= 500) return "server";
  if (status < 400) return "broken"; // 3xx is never followed; 204 holds no answer
  if (status === 402) return "quota";
  if (status === 401) return "account";
  if (status === 403) return causeOfDenial(error);
  if (status === 404) return "rejected";
  if (isAboutContext(error)) return "context_length";
  if (isAboutPolicy(error)) return "content_filter";
  return /rate_?limit|throttl/i.test(error.code) ? "rate_limited" : "rejected";
}

/**
 * The cause of a 403, which denies a prompt (OpenRouter, xAI) or a file that a caller named (Google) as well as our
 * key. Only if it mentions our identity there is it about our account; otherwise it is about this one request, or
 * this one model.
 */
function causeOfDenial(error: UpstreamError): FailureCause {
  if (isAboutPolicy(error)) return "content_filter";
  if (isAboutContext(error)) return "context_length";
  return isAboutAccount(error) && !isAboutModel(error) ? "account" : "rejected";
}

/** The cause of an error event, which has only its type. An unknown word proves nothing. */
function causeOfWords(error: UpstreamError): FailureCause {
  const { code } = error;
  if (isAboutQuota(error)) return "quota";
  if (isAboutContext(error)) return "context_length";
  if (isAboutPolicy(error)) return "content_filter";
  if (/rate_?limit|too_?many_?requests|throttl|resource_?exhausted|quota/i.test(code)) return "rate_limited";
  if (/overloaded|unavailable|not_?ready/i.test(code)) return "unavailable";
  if (/authentication|billing|payment|api_?key|credit/i.test(code)) return "account";
  if (/permission|forbidden|access_?denied/i.test(code)) return causeOfDenial(error);
  return /invalid_?request|not_?found|unsupported|invalid_?argument/i.test(code) ? "rejected" : "server";
}

/**
 * True if our account there is empty or suspended: no retry helps, somebody has to pay. By code if the vendor has one
 * (OpenAI, Moonshot, Alibaba, Zhipu, Cerebras), else by message (DeepSeek, Anthropic, xAI, Together, Fireworks,
 * OpenRouter). "Quota" alone is a rate limit elsewhere (Google, Vertex, Cerebras' tokens per minute), and so is
 * anything that says when it passes.
 */
const isAboutQuota = ({ code, message, retryAfterMs, status }: UpstreamError): boolean =>
  /insufficient_?(user_?)?(quota|balance|credits?|funds)|exceeded_current_quota|billing_?(hard_?limit|not_?active|error)|payment_required|arrearage|(credit|spending)_limit/i.test(
    code,
  ) ||
  /^your credit balance is too low/i.test(message) ||
  (PAYMENT.has(status) &&
    retryAfterMs === null &&
    /insufficient (account )?(balance|credits?|funds)|(used all available|out of|not enough|no remaining) credits|(credit|spending) limit|account\b.{0,80}\b(suspended|in arrears|good standing|overdue)|check your plan and billing/i.test(
      withoutQuotes(message),
    ));

/** True if it is about our identity there: a key, what it belongs to, and where it is used from. */
const isAboutAccount = ({ code, message }: UpstreamError): boolean =>
  /key|auth|expired_?token|client_?token|credential|signature|unrecognized_?client|billing|payment|country|region|account|project|organi[sz]ation|suspended/i.test(
    code,
  ) ||
  /\b(api[ _-]?)?keys?\b|\b(access|bearer|security) token|credential|signature|authenticat|unregistered|not authorized to perform|billing|payment|\b(credits?|accounts?|projects?|teams?|roles?|scopes?|regions?)\b|organi[sz]ation|workspace|subscription|tenant|principal|suspended|countr(y|ies)\b|firewall|network|public access/i.test(
    withoutQuotes(message),
  );

/** True if it is about one model that our account may not use: the others still work (OpenAI, Bedrock). */
const isAboutModel = ({ code, message }: UpstreamError): boolean =>
  /model_?not_?found/i.test(code) || /\b(access to|use) (the |this )?model\b/i.test(message);

/** Removes quotes, which may be a caller's words. */
const withoutQuotes = (message: string): string => message.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "");

/** The statuses for which words count: a 400 may quote a caller, who could close a provider for everybody with it. */
const PAYMENT: ReadonlySet<number> = new Set([401, 402, 403, 412, 429]);

const isAboutContext = ({ code, message }: UpstreamError): boolean =>
  /context_?(length|window|size)/i.test(code) ||
  /context[ _-]?(length|window|size|limit)|maximum context|too many tokens|(prompt|input|request) (is|was) too (long|large)|reduce the length|input length .*exceed|exceeds? the (maximum|max|model)\b.*\btokens?|maximum prompt length|exceeded (the )?model token limit|token count\b.{0,40}\bexceeds the limit|tokens.{0,4} \+ .{0,4}max_new_tokens|range of input length/i.test(
    message,
  );

const isAboutPolicy = ({ code, message }: UpstreamError): boolean =>
  /content_?(filter|policy)|responsible_?ai|safety|moderation/i.test(code) ||
  /(content|usage)( management)? (polic(y|ies)|guidelines)|requires moderation|input was flagged/i.test(
    message,
  );

const RETRY_AFTER_MAX_MS = HOUR_MS;

/** Returns the delay of `retry-after-ms`, or of `Retry-After` in seconds or as a date, in milliseconds. */
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
