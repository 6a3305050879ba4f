// COMMIT 2 as a decision: settle takes the charge and returns the rest, void returns the whole hold (money.md §2, §4).
// "Resolved once" is a condition on the request's row: who comes second changes nothing and is told `lost`.
import { type NanoUsd, ZERO_USD, addUsd, subUsd } from "../contract/money.ts";
import type { Books } from "./books.ts";
import type { Draft } from "./draft.ts";
import type { ResolveOutcome, Settlement, StoredAnswer, Voiding } from "./ledger.ts";
import { type ClosedRow, type RequestRow, rowId } from "./rows.ts";

/** `epoch`: the owner's; recovery resolves rows of earlier owners. `tried`: transactions with unknown outcome. */
export interface Owner {
  epoch: number;
  tried: number[];
}

interface Open {
  request: RequestRow;
  books: Books;
}

export function decideSettlement(draft: Draft, settlement: Settlement, owner: Owner): ResolveOutcome {
  const found = openRequest(draft, settlement, owner);
  if (!("request" in found)) return found;
  const { request, books } = found;
  const { charge, variance, usage } = settlement;
  if (charge < 0n || charge > request.hold || variance < 0n) {
    throw new Error(`charge ${charge} of a hold of ${request.hold}, variance ${variance}`);
  }
  books.moveForRequest("charge", charge);
  books.moveForRequest("rest", subUsd(request.hold, charge));
  books.moveForRequest("variance", variance);
  books.payDebt(null);
  releaseMonth(draft, request, charge);
  addUsage(draft, request, settlement);
  close(draft, found, {
    state: "settled",
    releaseDigest: settlement.releaseDigest,
    evidence: settlement.evidence,
    ...usage,
    charge,
    variance,
    minimumApplied: settlement.minimumApplied,
    status: settlement.status,
    errorCode: null,
    finishReason: settlement.finishReason,
    firstPartMs: settlement.firstPartMs,
    totalMs: settlement.totalMs,
    attempts: JSON.stringify(settlement.attempts),
    answer: settlement.answer,
  });
  return { kind: "done", balance: books.balance.available };
}

export function decideVoid(draft: Draft, voiding: Voiding, owner: Owner): ResolveOutcome {
  const found = openRequest(draft, voiding, owner);
  if (!("request" in found)) return found;
  const { request, books } = found;
  books.moveForRequest("void", request.hold);
  books.payDebt(null);
  releaseMonth(draft, request, ZERO_USD);
  close(draft, found, {
    state: "released",
    releaseDigest: null,
    evidence: "none",
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    charge: ZERO_USD,
    variance: ZERO_USD,
    minimumApplied: false,
    status: voiding.status,
    errorCode: voiding.errorCode,
    finishReason: null,
    firstPartMs: null,
    totalMs: voiding.totalMs,
    attempts: JSON.stringify(voiding.attempts),
    answer: voiding.freeClaim ? null : voiding.answer,
  });
  if (voiding.freeClaim) freeClaim(draft, request);
  return { kind: "done", balance: books.balance.available };
}

function openRequest(
  draft: Draft,
  { organizationId, requestId }: { organizationId: string; requestId: string },
  owner: Owner,
): Open | ResolveOutcome {
  const request = draft.rows.requests.get(rowId(organizationId, requestId));
  const books = draft.booksOf(organizationId);
  if (request === undefined || books === null) return { kind: "lost" };
  // Our own earlier try, whose commit was durable although the store reported an error.
  if (request.closedTxn !== null && owner.tried.includes(request.closedTxn)) {
    return { kind: "done", balance: books.balance.available };
  }
  if (request.state !== "dispatched" || request.epoch !== owner.epoch) return { kind: "lost" };
  return { request, books };
}

function releaseMonth(draft: Draft, request: RequestRow, charge: NanoUsd): void {
  const month = draft.keyMonthNamed(request.organizationId, request.keyId, request.month);
  month.held = subUsd(month.held, request.hold);
  month.spent = addUsd(month.spent, charge);
  draft.changes.keyMonths.add(month);
}

type Ending = Omit<
  ClosedRow,
  "organizationId" | "requestId" | "epoch" | "closedTxn" | "endedAtMs" | "answerUntilMs" | "claimUntilMs"
> & { answer: StoredAnswer | null };

function close(draft: Draft, { request, books }: Open, { answer, ...ending }: Ending): void {
  const { txn, retention } = draft.context;
  const { organizationId, requestId, idempotencyKey } = request;
  const keyed = idempotencyKey !== null;
  const answerKept = keyed && answer !== null && answer.body.byteLength <= retention.answerBytes;
  const answerUntilMs =
    keyed && (answerKept || ending.state === "settled") ? books.atMs + retention.answerMs : null;
  const claimUntilMs = keyed ? books.atMs + retention.claimMs : null;
  const { epoch } = request;
  draft.changes.closed.push({
    organizationId,
    requestId,
    epoch,
    closedTxn: txn,
    endedAtMs: books.atMs,
    ...ending,
    answerUntilMs,
    claimUntilMs,
  });
  if (request.checkpointed) draft.changes.chunksDropped.push({ organizationId, requestId });
  if (answerKept && answerUntilMs !== null) {
    draft.changes.answers.push({ organizationId, answer, expiresAtMs: answerUntilMs });
  }
  // Later operations of this batch see the request closed, and a retry its answer.
  request.state = ending.state;
  request.closedTxn = txn;
  const claim = keyed
    ? draft.rows.claims.get(rowId(organizationId, request.keyId, idempotencyKey))
    : undefined;
  if (claim?.requestId === requestId) {
    Object.assign(claim, { state: ending.state, answerUntilMs, claimUntilMs, answerKept });
  }
}

function freeClaim(draft: Draft, { organizationId, keyId, idempotencyKey, requestId }: RequestRow): void {
  if (idempotencyKey === null) return;
  const id = rowId(organizationId, keyId, idempotencyKey);
  if (draft.rows.claims.get(id)?.requestId === requestId) draft.rows.claims.delete(id);
  draft.changes.claimsFreed.push({ organizationId, keyId, idempotencyKey, requestId });
}

/** Tokens that were charged for: at most the quoted bounds where the hold capped the charge, as the receipt prints. */
export function chargedTokens(
  request: { promptBound: number; outputBound: number },
  settled: { usage: Settlement["usage"]; variance: NanoUsd },
): { inputTokens: number; cachedTokens: number; outputTokens: number } {
  const { promptTokens, completionTokens, cachedTokens } = settled.usage;
  const capped = settled.variance > 0n;
  const inputTokens = capped ? Math.min(promptTokens, request.promptBound) : promptTokens;
  return {
    inputTokens,
    cachedTokens: Math.min(cachedTokens ?? 0, inputTokens),
    outputTokens: capped ? Math.min(completionTokens, request.outputBound) : completionTokens,
  };
}

const HOUR_MS = 3_600_000;
export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

function addUsage(draft: Draft, request: RequestRow, settlement: Settlement): void {
  const { organizationId, keyId, model } = request;
  const hour = hourOf(request.admittedAtMs);
  const id = rowId(organizationId, keyId, model, hour);
  const tokens = chargedTokens(request, settlement);
  const row = draft.changes.usageHours.get(id) ?? {
    organizationId,
    keyId,
    model,
    hour,
    requests: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
    charge: ZERO_USD,
  };
  row.requests += 1;
  row.inputTokens += tokens.inputTokens;
  row.cachedTokens += tokens.cachedTokens;
  row.outputTokens += tokens.outputTokens;
  row.charge = addUsd(row.charge, settlement.charge);
  draft.changes.usageHours.set(id, row);
}
