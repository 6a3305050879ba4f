// The one error body (wire.md §4). SDKs keep only the inside of `error`, so the request id and the details are in there.
import type { Refusal } from "./refusals.ts";

/** Prints `{"error":{…},"gateway":…}`; `gateway` is JSON text, or null for callers that showed no valid key. */
export function printError(refusal: Refusal, requestId: string, gateway: string | null): string {
  const { message, type, param, code, details } = refusal;
  const error = JSON.stringify({
    message,
    type,
    param,
    code,
    request_id: requestId,
    ...(details && { details }),
  });
  return gateway === null ? `{"error":${error}}` : `{"error":${error},"gateway":${gateway}}`;
}

/** The headers that tell clients whether and when to retry. */
export function refusalHeaders(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = { ...refusal.headers, "x-should-retry": String(refusal.retry) };
  if (refusal.retryAfterMs !== undefined) {
    const waitMs = Math.min(Math.max(refusal.retryAfterMs, 1), 60_000);
    headers["retry-after"] = String(Math.ceil(waitMs / 1000));
    headers["retry-after-ms"] = String(Math.ceil(waitMs));
  }
  return headers;
}
