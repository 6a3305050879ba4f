// Why a route has no current release, in words.
import { printMinute } from "../domain/print.ts";

/** `reason` is that of its standing; `expiresAtMs` is that of the release that identifies it, if any. */
export function whyStale(reason: string | null, expiresAtMs: number | null): string {
  if (reason === "expired" && expiresAtMs !== null) return `its release ended on ${printMinute(expiresAtMs)}`;
  if (reason === "unreadable")
    return "its newest release is damaged in the store, and the operator has to publish a new one";
  if (reason === "unknown_terms")
    return "its newest release has terms that this gateway does not know, and the operator has to update the gateway";
  return "it has no current signed release, and the operator has to publish a new one";
}
