// COMMIT 2 as a decision: settle takes the charge and returns the rest, void returns the whole hold (money.md §2,
// §4). "Resolved once" is a condition on the request's row: the second attempt changes nothing and gets `lost`.
import { HOUR_MS } from "../../domain/durations.ts";
import { type NanoUsd, ZERO_USD, addUsd, minUsd, subUsd } from "../../domain/money.ts";
import type { AccountPostings } from "../commit/account-postings.ts";
import { decideLowering } from "./lowering.ts";
import { endRate } from "./rate.ts";
import type { BatchState } from "../commit/batch-state.ts";
import type { ResolveOutcome, Settlement, StoredAnswer, Voiding } from "../ledger.ts";
import { type ClosedRow, type RequestRow, rowId } from "../rows.ts";
import { missingBalance } from "../unreadable.ts";
import { printClasses } from "../usage-classes.ts";

/** The owner of the request; recovery resolves rows of earlier owners. */
export interface Owner {
  epoch: number;
}

/** A request with a hold to resolve, and its organization's postings in the same batch. */
export interface OpenRequest {
  request: RequestRow;
  postings: AccountPostings;
}

/**
 * COMMIT 2 of a request that is open and belongs to the owner; `lost` for any other. Throws for
 * values that no settlement may have: a charge above the hold, or counts that no row can store.
 */
export function decideSettlement(batch: BatchState, settlement: Settlement, owner: Owner): ResolveOutcome {
  const found = openRequest(batch, settlement, owner);
  if (!("request" in found)) return found;
  bookSettlement(batch, found, settlement);
  return { kind: "done", balance: found.postings.balance.available };
}

/** `releaseDigest` null means the release frozen at admission. */
export type Settling = Omit<Settlement, "releaseDigest"> & { releaseDigest: string | null };

/** Books the charge, the rest of the hold, and the usage. Throws as `decideSettlement` does. */
export function bookSettlement(batch: BatchState, found: OpenRequest, settlement: Settling): void {
  const { request, postings } = found;
  const { charge, variance, usage, lowered } = settlement;
  const hold = lowered === undefined ? request.hold : minUsd(lowered.hold, request.hold);
  if (charge < 0n || charge > hold || variance < 0n) {
    throw new Error(`charge ${charge} of a hold of ${hold}, variance ${variance}`);
  }
  assertStorable(settlement);
  const { organizationId, requestId } = settlement;
  if (lowered !== undefined) decideLowering(batch, { organizationId, requestId, ...lowered });
  postings.moveForRequest("charge", charge);
  postings.moveForRequest("rest", subUsd(request.hold, charge));
  postings.moveForRequest("variance", variance);
  postings.payDebt(null);
  bookKeyMonth(batch, request, charge);
  endRate(batch, request, usage.promptTokens + usage.completionTokens);
  addUsage(batch, request, settlement);
  const row: ClosedRow = {
    organizationId,
    requestId,
    epoch: request.epoch,
    holdRead: request.hold,
    closedTxn: batch.context.txn,
    endedAtMs: postings.atMs,
    state: "settled",
    releaseDigest: settlement.releaseDigest,
    evidence: settlement.evidence,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    cachedTokens: usage.cachedTokens,
    reasoningTokens: usage.reasoningTokens,
    usageClasses: printClasses(usage),
    charge,
    variance,
    minimumApplied: settlement.minimumApplied,
    status: settlement.status,
    errorCode: null,
    finishReason: settlement.finishReason,
    firstPartMs: settlement.firstPartMs,
    totalMs: settlement.totalMs,
    attempts: JSON.stringify(settlement.attempts),
    answerUntilMs: null,
    claimUntilMs: null,
  };
  close(batch, found, { row, answer: settlement.answer });
}

/**
 * The largest count that a column of whole numbers takes, with room for sums of many: a larger count would spoil the hour's
 * usage of its key for every later settlement. Reported usage is limited to its bounds well before this (gateway/bill.ts).
 */
const MOST_TOKENS = 2 ** 40;

function assertStorable({ usage, status, firstPartMs, totalMs }: Settling): void {
  for (const name in usage) {
    const count = usage[name as keyof typeof usage];
    if (name !== "serviceTier" && count !== null && !isStorableCount(count))
      throw new Error(`a settlement of ${count} ${name}`);
  }
  requireWhole("status", status);
  requireWhole("firstPartMs", firstPartMs);
  requireWhole("totalMs", totalMs);
}

const isStorableCount = (count: unknown): boolean =>
  typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS;

function requireWhole(name: string, whole: number | null): void {
  if (whole !== null && !Number.isSafeInteger(whole))
    throw new Error(`a settlement with ${whole} as ${name}`);
}

/** Returns the whole hold of a request that is open and belongs to the owner; `lost` for any other. */
export function decideVoid(batch: BatchState, voiding: Voiding, owner: Owner): ResolveOutcome {
  const found = openRequest(batch, voiding, owner);
  if (!("request" in found)) return found;
  bookVoid(batch, found, voiding);
  return { kind: "done", balance: found.postings.balance.available };
}

/** Books the end of a request that costs nothing. */
export function bookVoid(batch: BatchState, found: OpenRequest, voiding: Voiding): void {
  const { request, postings } = found;
  postings.moveForRequest("void", request.hold);
  postings.payDebt(null);
  bookKeyMonth(batch, request, ZERO_USD);
  endRate(batch, request, 0);
  const row: ClosedRow = {
    organizationId: request.organizationId,
    requestId: request.requestId,
    epoch: request.epoch,
    holdRead: request.hold,
    closedTxn: batch.context.txn,
    endedAtMs: postings.atMs,
    state: "released",
    releaseDigest: null,
    evidence: "none",
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    usageClasses: null,
    charge: ZERO_USD,
    variance: ZERO_USD,
    minimumApplied: false,
    status: voiding.status,
    errorCode: voiding.errorCode,
    finishReason: null,
    firstPartMs: null,
    totalMs: voiding.totalMs,
    attempts: JSON.stringify(voiding.attempts),
    answerUntilMs: null,
    claimUntilMs: null,
  };
  close(batch, found, { row, answer: voiding.freeClaim ? null : voiding.answer });
  if (voiding.freeClaim) freeClaim(batch, request);
}

function openRequest(
  batch: BatchState,
  { organizationId, requestId }: { organizationId: string; requestId: string },
  owner: Owner,
): OpenRequest | ResolveOutcome {
  const request = batch.rows.requests.get(rowId(organizationId, requestId));
  if (request === undefined) return { kind: "lost" };
  if (request.state !== "dispatched" || request.epoch !== owner.epoch) return { kind: "lost" };
  const postings = batch.postingsOf(organizationId);
  if (postings === null) throw missingBalance(organizationId);
  return { request, postings };
}

/** Takes the whole hold off the key's month and adds the charge to it. */
function bookKeyMonth(batch: BatchState, request: RequestRow, charge: NanoUsd): void {
  const month = batch.keyMonthNamed(request.organizationId, request.keyId, request.month);
  month.held = subUsd(month.held, request.hold);
  month.spent = addUsd(month.spent, charge);
  batch.changes.keyMonths.add(month);
}

/** Writes `row`, after deciding how long its answer and its key are kept. */
function close(
  batch: BatchState,
  { request, postings }: OpenRequest,
  { row, answer }: { row: ClosedRow; answer: StoredAnswer | null },
): void {
  const { txn, retention } = batch.context;
  const { organizationId, requestId, idempotencyKey } = request;
  const keyed = idempotencyKey !== null;
  const answerKept = keyed && answer !== null && answer.body.byteLength <= retention.answerBytes;
  const answerUntilMs =
    keyed && (answerKept || row.state === "settled") ? postings.atMs + retention.answerMs : null;
  const claimUntilMs = keyed ? postings.atMs + retention.claimMs : null;
  row.answerUntilMs = answerUntilMs;
  row.claimUntilMs = claimUntilMs;
  batch.changes.closed.push(row);
  if (request.checkpointed) batch.changes.chunksDropped.push({ organizationId, requestId });
  if (answerKept && answerUntilMs !== null) {
    batch.changes.answers.push({ organizationId, answer, expiresAtMs: answerUntilMs });
  }
  // Later operations of this batch see the request closed, and a retry sees its answer.
  request.state = row.state;
  request.closedTxn = txn;
  const claim = keyed
    ? batch.rows.claims.get(rowId(organizationId, request.keyId, idempotencyKey))
    : undefined;
  if (claim?.requestId === requestId) {
    Object.assign(claim, { state: row.state, answerUntilMs, claimUntilMs, answerKept });
  }
}

function freeClaim(
  batch: BatchState,
  { organizationId, keyId, idempotencyKey, requestId }: RequestRow,
): void {
  if (idempotencyKey === null) return;
  const id = rowId(organizationId, keyId, idempotencyKey);
  if (batch.rows.claims.get(id)?.requestId === requestId) batch.rows.claims.delete(id);
  batch.changes.claimsFreed.push({ organizationId, keyId, idempotencyKey, requestId });
}

/** Returns the tokens that were charged for: at most the quoted bounds if the hold capped the charge, as the receipt prints. */
function chargedTokens(
  request: { promptBound: number; outputBound: number },
  settled: { usage: Settlement["usage"]; variance: NanoUsd },
): { inputTokens: number; cachedTokens: number; cacheWriteTokens: number; outputTokens: number } {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens = 0 } = settled.usage;
  const capped = settled.variance > 0n;
  const inputTokens = capped ? Math.min(promptTokens, request.promptBound) : promptTokens;
  return {
    inputTokens,
    cachedTokens: Math.min(cachedTokens ?? 0, inputTokens),
    cacheWriteTokens: Math.min(cacheWriteTokens, inputTokens),
    outputTokens: capped ? Math.min(completionTokens, request.outputBound) : completionTokens,
  };
}

/** Whole hours since the Unix epoch, the unit in which usage is summed. */
export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

/** Counts stay plain numbers: the sum over the settlements of one batch is far below 2^53. */
function addUsage(batch: BatchState, request: RequestRow, settlement: Settling): void {
  const tokens = chargedTokens(request, settlement);
  const row = batch.usageOf(request, hourOf(request.admittedAtMs));
  row.requests += 1;
  row.inputTokens += tokens.inputTokens;
  row.cachedTokens += tokens.cachedTokens;
  row.cacheWriteTokens += tokens.cacheWriteTokens;
  row.outputTokens += tokens.outputTokens;
  row.charge = addUsd(row.charge, settlement.charge);
}
