// The one place where a result becomes a response, and a refusal an error body (specification 7: every error carries the request
// id). Upstream headers are never copied.
import { refusalHeaders } from "../domain/error-body.ts";
import { chatCompletions } from "../gateway/formats/chat-completions/chat-completions.ts";
import type { Format } from "../gateway/formats/format.ts";
import type { OperatorRefusal } from "../domain/operator-refusals.ts";
import { Refusal } from "../domain/refusals.ts";
import { UnreadableRecord } from "../ledger/unreadable.ts";
import type { HttpContext } from "./context.ts";

/** Of refusals, for the access log. */
const codes = new WeakMap<Response, string>();

/** Notes the code of a refusal with the response that reports it; returns the response. */
export function noteCode(response: Response, code: string): Response {
  codes.set(response, code);
  return response;
}

/** The code of the refusal that a response reports; null for others. */
export const codeOf = (response: Response): string | null => codes.get(response) ?? null;

const JSON_HEADERS = { "content-type": "application/json" };

/** Headers of a JSON answer that must not be cached. */
export const unkeptHeaders = (requestId: string): Record<string, string> => ({
  ...JSON_HEADERS,
  "cache-control": "no-store",
  "x-request-id": requestId,
});

/** A JSON answer of a free endpoint; never cached. */
export const replyJson = (context: HttpContext, value: unknown): Response =>
  replyPrinted(context, JSON.stringify(value));

/** The same for an answer that is already JSON text. */
export const replyPrinted = ({ requestId }: Pick<HttpContext, "requestId">, json: string): Response =>
  new Response(json, { headers: unkeptHeaders(requestId) });

/** The parts of a surface that an error answer needs. Paths outside surfaces use chat completions' form. */
export type ErrorFormat = Pick<Format, "printError" | "idHeader" | "clientHeader">;

/** Adds the ids by which a request can be found again to an answer's own headers, an object that nobody else uses. */
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
  const response = new Response(format.printError(refusal, requestId, gateway), {
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
  return noteCode(response, refusal.code);
}

/** A refusal of the operator API, the dashboard's API or a payment webhook, in the same envelope. */
export function replyOperatorRefusal(requestId: string, refusal: OperatorRefusal): Response {
  const { message, type, param, code, step, status } = refusal;
  const error = { message, type, param, code, request_id: requestId, ...(step !== null && { step }) };
  return noteCode(
    new Response(JSON.stringify({ error }), { status, headers: unkeptHeaders(requestId) }),
    code,
  );
}

/** Converts a thrown value to a refusal: a bug becomes 500 without revealing its cause. */
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
