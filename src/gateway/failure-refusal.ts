// A provider's failure, told to the client (wire.md §8.3). Provider texts never pass through: they may hold keys,
// hosts, or words that clients match on.
import { Refusal } from "../domain/refusals.ts";
import type { Failure } from "../providers/failure.ts";

const MAX_RETRY_AFTER_MS = 60_000;
const again = "Send the request again; nothing was charged.";
const unproven =
  "It is not known whether the provider ran this request, so it is not sent again by itself. Nothing was charged; " +
  "retry with a new Idempotency-Key, or none, if running it twice is acceptable.";

/** A stream that failed after its first part was delivered; never sent again by itself, since it was charged for. */
export function brokenStream({ reason }: Failure): Refusal {
  const timedOut = reason === "timeout" || reason === "connect_timeout" || reason === "deadline";
  return new Refusal(
    timedOut ? "provider_timeout" : "provider_error",
    `${BROKEN_BY[reason] ?? "The provider failed"} in the middle of the answer. The prompt and the tokens delivered ` +
      "until then were charged, see gateway.cost. Send the request again with a new Idempotency-Key, or none, for a whole answer.",
    { retry: false },
  );
}

const BROKEN_BY: Partial<Record<Failure["reason"], string>> = {
  stopped: "The gateway stopped",
  deadline: "The time for one answer was over",
  timeout: "The provider fell silent",
  connect_timeout: "The provider fell silent",
};

/** The refusal for a request that failed before anything was delivered. `retry` only with proof of non-execution. */
export function refusalOf(failure: Failure): Refusal {
  const proven = failure.executed === "no";
  switch (failure.reason) {
    case "context_length":
      return new Refusal(
        "context_length_exceeded",
        "The provider counts more tokens in this request than its context window holds. Shorten the messages or lower max_tokens.",
        {
          param: "messages",
        },
      );
    case "content_filter":
      return new Refusal(
        "content_filter",
        "The provider refused this prompt under its content policy. Change the messages.",
        { param: "messages" },
      );
    case "connect_timeout":
      return new Refusal(
        "provider_timeout",
        `The provider could not be reached in time. ${proven ? again : unproven}`,
        {
          retry: proven,
          retryAfterMs: 1000,
        },
      );
    case "timeout":
    case "deadline":
      return new Refusal(
        "provider_timeout",
        `The provider did not answer in time. ${unproven} For long answers use stream: true.`,
        { retry: false },
      );
    case "connect":
    case "rate_limited":
    case "unavailable":
      return new Refusal(
        "provider_error",
        `The provider cannot take the request right now. ${proven ? again : unproven}`,
        {
          retry: proven,
          retryAfterMs: Math.min(failure.upstream.retryAfterMs ?? 1000, MAX_RETRY_AFTER_MS),
        },
      );
    case "rejected":
    case "account":
    case "quota":
      return new Refusal(
        "provider_error",
        "The provider did not accept the request from this gateway. Nothing was charged; the operator has been told.",
        { retry: false },
      );
    case "stopped":
      return new Refusal(
        "provider_error",
        `The gateway stopped before the answer was there. ${proven ? again : unproven}`,
        {
          retry: proven,
        },
      );
    case "no_answer":
      return new Refusal(
        "provider_error",
        `The model gave no answer: a tool call that it could not write, or fewer choices than n. ${unproven}`,
        { retry: false },
      );
    case "server":
    case "broken":
    case "aborted":
      return new Refusal("provider_error", `The provider failed. ${proven ? again : unproven}`, {
        retry: proven,
      });
    default: {
      const never: never = failure.reason;
      throw new Error(`failure without a refusal: ${String(never)}`);
    }
  }
}
