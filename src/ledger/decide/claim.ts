// Step 4 of money.md §7: the state of a caller's idempotency key (§8). A stored answer outranks closed routes,
// limits and an empty balance. The clock decides expiry here, regardless of whether a sweeper has run.
import { sameDigest } from "../../domain/digest.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Claim } from "../ledger.ts";
import {
  inQuarantine,
  keyExpired,
  keyReused,
  outcomeUnknown,
  requestMissing,
  resultNotRetained,
} from "./policy-refusals.ts";
import type { ClaimRow } from "../rows.ts";

export type ClaimDecision =
  | { kind: "free" }
  | { kind: "running"; requestId: string }
  | { kind: "replay"; requestId: string }
  | { kind: "refused"; refusal: Refusal };

/** `taken` is the claim row under this API key and idempotency key, if there is one. */
export function decideClaim(taken: ClaimRow | undefined, claim: Claim, nowMs: number): ClaimDecision {
  if (taken === undefined) return { kind: "free" };
  if (taken.claimUntilMs !== null && nowMs >= taken.claimUntilMs) return { kind: "free" };
  if (!sameDigest(taken.fingerprint, claim.fingerprint)) return { kind: "refused", refusal: keyReused() };
  if (taken.state === null) return { kind: "refused", refusal: requestMissing(taken.requestId) };
  if (taken.quarantined) return { kind: "refused", refusal: inQuarantine(taken.requestId) };
  if (taken.state === "dispatched") return { kind: "running", requestId: taken.requestId };
  // Released without an answer of its own: the owner is gone, and it is unknown whether the provider ran it.
  if (taken.state === "released" && taken.answerUntilMs === null) {
    return { kind: "refused", refusal: outcomeUnknown(taken.requestId) };
  }
  if (taken.answerUntilMs !== null && nowMs >= taken.answerUntilMs) {
    return { kind: "refused", refusal: keyExpired() };
  }
  if (!taken.answerKept) return { kind: "refused", refusal: resultNotRetained(taken.requestId) };
  return { kind: "replay", requestId: taken.requestId };
}
