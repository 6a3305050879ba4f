// The one place where a result becomes a response, and a refusal an error body (specification 7: every error carries
// the request id). Upstream headers are never copied.
import { refusalHeaders } from "../domain/error-body.ts";
import { chatCompletions } from "../gateway/formats/chat-completions/chat-completions.ts";
import type { Format } from "../gateway/formats/format.ts";
import type { OperatorRefusal } from "../domain/operator-refusals.ts";
import { Refusal } from "../domain/refusals.ts";
import { UnreadableRecord } from "../ledger/unreadable.ts";
import type { HttpContext } from "./context.ts";

const JSON_HEADERS = { "content-type": "application/json" };

/** Of a JSON answer that nobody may keep. */
export const unkeptHeaders = (requestId: string): Record<string, string> => ({
  ...JSON_HEADERS,
  "cache-control": "no-store",
  "x-request-id": requestId,
});

/** A JSON answer of a free endpoint; never cached. */
export const replyJson = (context: HttpContext, value: unknown): Response =>
  replyPrinted(context, JSON.stringify(value));

/** The same of one that is JSON text already. */
export const replyPrinted = ({ requestId }: Pick<HttpContext, "requestId">, json: string): Response =>
  new Response(json, { headers: unkeptHeaders(requestId) });

/** What an error answer needs of a surface. What is no surface speaks like chat completions. */
export type ErrorFormat = Pick<Format, "printError" | "idHeader" | "clientHeader">;

/** Adds those by which a request is found again to an answer's own headers, which nobody else holds. */
export function withIds(
  headers: Record<string, string>,
  { idHeader }: ErrorFormat,
  requestId: string,
): Record<string, string> {
  headers["x-request-id"] = requestId;
  if (idHeader !== null) headers[idHeader] = requestId;
  return headers;
}

interface Beside {
  /** JSON text, or null for callers that showed no valid key. */
  gateway?: string | null;
  headers?: Record<string, string>;
  format?: ErrorFormat;
}

/** An error answer. */
export function replyRefusal(
  requestId: string,
  refusal: Refusal,
  { gateway = null, headers = {}, format = chatCompletions }: Beside = {},
): Response {
  return new Response(format.printError(refusal, requestId, gateway), {
    status: refusal.status,
    headers: withIds(
      {
        ...JSON_HEADERS,
        ...headers,
        ...refusalHeaders(refusal),
        ...(refusal.status === 401 && { "www-authenticate": "Bearer" }),
      },
      format,
      requestId,
    ),
  });
}

/** A refusal of the operator API, the dashboard's API or a payment webhook, in the same envelope. */
export function replyOperatorRefusal(requestId: string, refusal: OperatorRefusal): Response {
  const { message, type, param, code, step, status } = refusal;
  const error = { message, type, param, code, request_id: requestId, ...(step !== null && { step }) };
  return new Response(JSON.stringify({ error }), {
    status,
    headers: unkeptHeaders(requestId),
  });
}

/** What was thrown, as a refusal: a bug becomes 500 without a word about its cause. */
export function refusalFrom(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UnreadableRecord)
    return new Refusal(
      "internal_error",
      `A record in the store is damaged: ${error.what}. Contact the gateway's operator with this request id.`,
    );
  return new Refusal(
    "internal_error",
    "Something failed inside the gateway. Contact its operator with this request id.",
  );
}
