// Turns a provider's failure into the client's refusal (wire.md §8.3). Provider texts are never passed on: they may contain
// keys, hosts, or words that clients match on.
import { countTooHigh } from "../domain/context-length.ts";
import { overloaded } from "../domain/overloaded.ts";
import { Refusal, type RefusalCode } from "../domain/refusals.ts";
import type { Failure } from "../providers/failure.ts";
import type { ContextFigures } from "../providers/http/context-figures.ts";

/** The default if the provider names none. */
const RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 60_000;
const again = "Nothing was charged; retry the request.";
const unproven =
  "It is unknown whether the provider ran this request, so it is not retried automatically. Nothing was charged; " +
  "if running it twice is acceptable, retry with a new Idempotency-Key, or without one.";

/** The refusal for a stream that failed after its first part was delivered; never retried automatically, because it was charged. */
export function brokenStream({ reason }: Failure): Refusal {
  const timedOut = reason === "timeout" || reason === "connect_timeout" || reason === "deadline";
  return new Refusal(
    timedOut ? "provider_timeout" : "provider_error",
    `${BROKEN_BY[reason] ?? "The provider failed"} in the middle of the answer. The prompt and the tokens delivered ` +
      "until then were charged (see gateway.cost). To get a complete answer, retry with a new Idempotency-Key, or without one.",
    { retry: false },
  );
}

const BROKEN_BY: Partial<Record<Failure["reason"], string>> = {
  stopped: "The gateway stopped",
  shortage: "The gateway failed",
  deadline: "The time limit for answers was reached",
  timeout: "The provider stopped sending",
  connect_timeout: "The provider stopped sending",
};

/** The refusal for a request that failed before anything was delivered. `retry` only with proof of non-execution. */
export function refusalOf(failure: Failure): Refusal {
  switch (failure.reason) {
    case "context_length":
      return tooLong(failure.upstream.context ?? {});
    case "content_filter":
      return ofRequest(
        "content_filter",
        "The provider refused this prompt under its content policy. Change the messages.",
      );
    case "connect_timeout":
      return byProof(failure, "Connecting to the provider timed out.", {
        code: "provider_timeout",
        retryAfterMs: RETRY_AFTER_MS,
      });
    case "connect":
    case "rate_limited":
    case "unavailable":
      return byProof(failure, "The provider cannot accept the request right now.", {
        retryAfterMs: Math.min(failure.upstream.retryAfterMs ?? RETRY_AFTER_MS, MAX_RETRY_AFTER_MS),
      });
    case "shortage":
      return failure.executed === "no" ? overloaded(failure) : byProof(failure, "The gateway failed.");
    case "stopped":
      return byProof(failure, "The gateway stopped before the answer was complete.");
    case "server":
    case "broken":
    case "aborted":
      return byProof(failure, "The provider failed.");
    case "timeout":
    case "deadline":
      return notAgain(
        "provider_timeout",
        `The provider did not answer in time. ${unproven} For long answers, use stream: true.`,
      );
    case "no_answer":
      return notAgain(
        "provider_error",
        `The model returned no usable answer: a malformed tool call, or fewer choices than n. ${unproven}`,
      );
    case "rejected":
    case "account":
    case "quota":
      return notAgain(
        "provider_error",
        "The provider did not accept the request from this gateway. Nothing was charged, and the operator has been notified.",
      );
    default: {
      const never: never = failure.reason;
      throw new Error(`failure without a refusal: ${String(never)}`);
    }
  }
}

/** The figures are the provider's own count. */
function tooLong({ window, prompt, completion }: ContextFigures): Refusal {
  const counted = prompt === undefined ? undefined : prompt + (completion ?? 0);
  const message = `${countTooHigh(window, counted)} Shorten the messages or lower max_tokens.`;
  const details = window !== undefined && {
    context_window: window,
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { max_tokens: completion }),
  };
  return new Refusal("context_length_exceeded", message, { param: "messages", ...(details && { details }) });
}

/** The provider objects to this request; a different one may be accepted. */
const ofRequest = (code: RefusalCode, message: string): Refusal =>
  new Refusal(code, message, { param: "messages" });

/** Retryable if the failure proves that nothing ran. */
function byProof(
  { executed }: Failure,
  happened: string,
  { code = "provider_error", ...extras }: { code?: RefusalCode; retryAfterMs?: number } = {},
): Refusal {
  const retry = executed === "no";
  return new Refusal(code, `${happened} ${retry ? again : unproven}`, { retry, ...extras });
}

const notAgain = (code: RefusalCode, message: string): Refusal =>
  new Refusal(code, message, { retry: false });
