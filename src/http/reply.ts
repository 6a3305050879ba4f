// The one place where a result becomes a response, and a refusal an error body (specification 7: every error carries
// the request id). Upstream headers are never copied.
import { printError, refusalHeaders } from "../contract/error-body.ts";
import type { OperatorRefusal } from "../contract/admin-refusals.ts";
import { Refusal } from "../contract/refusals.ts";
import type { HttpContext } from "./context.ts";

const JSON_HEADERS = { "content-type": "application/json" };

/** A JSON answer of a free endpoint; never cached. */
export function replyJson(context: HttpContext, value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { ...JSON_HEADERS, "cache-control": "no-store", "x-request-id": context.requestId },
  });
}

/** An error answer. `gateway` is JSON text, or null for callers that showed no valid key. */
export function replyRefusal(
  requestId: string,
  refusal: Refusal,
  also: { gateway: string | null; headers: Record<string, string> } = { gateway: null, headers: {} },
): Response {
  return new Response(printError(refusal, requestId, also.gateway), {
    status: refusal.status,
    headers: {
      ...JSON_HEADERS,
      ...also.headers,
      ...refusalHeaders(refusal),
      ...(refusal.status === 401 && { "www-authenticate": "Bearer" }),
      "x-request-id": requestId,
    },
  });
}

/** A refusal of the operator API, the dashboard's API or a payment webhook, in the same envelope. */
export function replyOperatorRefusal(requestId: string, refusal: OperatorRefusal): Response {
  const { message, type, param, code, step, status } = refusal;
  const error = { message, type, param, code, request_id: requestId, ...(step !== null && { step }) };
  return new Response(JSON.stringify({ error }), {
    status,
    headers: { ...JSON_HEADERS, "cache-control": "no-store", "x-request-id": requestId },
  });
}

/** What was thrown, as a refusal: a bug becomes 500 without a word about its cause. */
export function refusalFrom(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(
    "internal_error",
    "Something failed inside the gateway. Contact its operator with this request id.",
  );
}
