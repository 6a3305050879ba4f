// The error envelope of this surface: the vendor's types by status, and our code beside them (surfaces.md §2).
import type { Refusal } from "../../../domain/refusals.ts";
import { wireJson } from "../../../domain/wire-json.ts";

const TYPES: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** `gateway` is JSON text, or null for callers that showed no valid key. */
export function printMessageError(refusal: Refusal, requestId: string, gateway: string | null): string {
  const { message, code, param, details, status } = refusal;
  const type = TYPES[status] ?? "invalid_request_error";
  const error = wireJson({ type, message, code, param, ...(details && { details }) });
  const envelope = `{"type":"error","error":${error},"request_id":${JSON.stringify(requestId)}`;
  return gateway === null ? `${envelope}}` : `${envelope},"gateway":${gateway}}`;
}
