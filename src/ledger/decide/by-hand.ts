// The end of a quarantined request as an operator decides it: a charge within its hold, or none (money.md §9).
// Makes the same postings as any other end, and records the decision, who made it and why in the same transaction.
import type { Actor } from "../../domain/actor.ts";
import { formatUsd, ZERO_USD } from "../../domain/money.ts";
import { bookSettlement, bookVoid, type OpenRequest } from "./resolution.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { EndingByHand, EndedByHand } from "../ledger.ts";
import { OWNER_LOST } from "../records.ts";
import { rowId } from "../rows.ts";
import { missingBalance } from "../unreadable.ts";

/** Ends a request that is still in quarantine; returns `unknown_request` for any other. */
export function decideByHand(batch: BatchState, ending: EndingByHand, actor: Actor): EndedByHand {
  const { organizationId, requestId, charge, reason } = ending;
  const id = rowId(organizationId, requestId);
  const request = batch.rows.requests.get(id);
  // Its owner may have come back with its settlement, or another operator may have been faster.
  if (request === undefined || !batch.rows.quarantined.has(id)) return { kind: "unknown_request" };
  if (request.state !== "dispatched") return { kind: "unknown_request" };
  const postings = batch.postingsOf(organizationId);
  if (postings === null) throw missingBalance(organizationId);
  if (charge !== null && (charge < 0n || charge > request.hold))
    return { kind: "exceeds", atMost: request.hold };
  const found: OpenRequest = { request, postings };
  const end = {
    organizationId,
    requestId,
    attempts: [],
    totalMs: Math.max(0, postings.atMs - request.admittedAtMs),
  };
  if (charge === null)
    bookVoid(batch, found, { ...end, status: 500, errorCode: OWNER_LOST, freeClaim: false, answer: null });
  else
    bookSettlement(batch, found, {
      ...end,
      releaseDigest: null,
      evidence: "operator",
      usage: { promptTokens: 0, completionTokens: 0, cachedTokens: null, reasoningTokens: null },
      charge,
      variance: ZERO_USD,
      minimumApplied: false,
      finishReason: null,
      status: 200,
      firstPartMs: null,
      answer: null,
    });
  batch.changes.endedByHand.push({
    organizationId,
    requestId,
    decidedAtMs: postings.atMs,
    decidedBy: actor.id,
    decidedReason: reason,
    charge,
  });
  batch.changes.auditLines.push({
    atMs: postings.atMs,
    actor,
    action: "request.resolve",
    organizationId,
    target: requestId,
    before: { held_usd: formatUsd(request.hold) },
    after: { charge_usd: charge === null ? null : formatUsd(charge), reason },
  });
  return { kind: "ended", charge: charge ?? ZERO_USD, balance: postings.balance.available };
}
