// Rate limits: requests and tokens per minute, and concurrent requests, of an organization, its keys, its models, a key
// and a model (operate.md §1). They are decided on rows that COMMIT 1 has locked, so that a limit holds across all
// gateways. Tokens are reserved as quoted; the unused part is returned at the end (docs/decisions/0054-rate-limits.md).
import {
  limitsAnything,
  type RateDefaults,
  type RateLimits,
  type RatePlace,
  type RateSubject,
} from "../../domain/rate-limits.ts";
import { costUs, givenBack, microseconds, remainingAt, resetMs, takenAt } from "../../limits/gcra.ts";
import type { AccountPostings } from "../commit/account-postings.ts";
import type { BatchContext, BatchState } from "../commit/batch-state.ts";
import type { RateStanding } from "../ledger.ts";
import { inForce, mendRate, standardOf, unsetRow } from "../rate-in-force.ts";
import { type Limited, type RateLimitRow, type RequestRow, rowId, type Rows } from "../rows.ts";
import { type AskedTokens, type Blocked, blockedBy } from "./rate-blocked.ts";

const NONE: readonly Limited[] = [];

/** Returns everything that a new request counts towards; empty if no limit is set. Writes nothing. */
export function limitedBy(batch: BatchState, place: RatePlace, atMs: number): readonly Limited[] {
  const { rows, context } = batch;
  return rows.rateLimits.size === 0 && !hasDefaults(context.rateDefaults)
    ? NONE
    : comingFor(batch, place, atMs);
}

function comingFor(batch: BatchState, place: RatePlace, atMs: number): readonly Limited[] {
  const { rows } = batch;
  return batch.limitedComing.get(place, () =>
    subjectsOf(place).flatMap((subject) => {
      const standard = standardFor(batch, subject, place.model);
      const row = rows.rateLimits.get(subject.id) ?? null;
      if (row === null && !limitsAnything(standard)) return [];
      const running = rows.openRequests.get(subject.id) ?? 0;
      const since = beforeTaking(batch, place, atMs);
      return [limitedOf(batch, subject, { standard, row: row ?? unsetRow(subject, { running, since }) })];
    }),
  );
}

/** The request that creates a row is the first to take from it; earlier ones of the same millisecond cannot be distinguished. */
const beforeTaking = (batch: BatchState, { organizationId }: RatePlace, atMs: number): number =>
  batch.postingsOf(organizationId)?.balance.stampedAtMs === atMs ? atMs : atMs - 1;

/** True if every request counts towards some limit. */
export const hasDefaults = ({ organization, key }: RateDefaults): boolean =>
  limitsAnything(organization) || limitsAnything(key);

/** Returns subjects that a default limits here but that have no row: loading one counts its running requests. */
export const unknownTo = (rows: Rows, place: RatePlace, rateDefaults: RateDefaults): Subject[] =>
  subjectsOf(place).filter(
    (subject) =>
      !rows.rateLimits.has(subject.id) &&
      !rows.openRequests.has(subject.id) &&
      limitsAnything(standardFor({ rows, context: { rateDefaults } }, subject, place.model)),
  );

const limitedOf = (
  { rows, context }: BatchState,
  { id, subject }: Subject,
  { standard, row }: { standard: RateLimits; row: RateLimitRow },
): Limited => {
  mendRate(row, microseconds(context.nowMs));
  rows.rateLimits.set(id, row);
  return { subject, row, limits: inForce(row, standard) };
};

/** A subject that a request counts towards, identified as in its row. */
export interface Subject extends RatePlace {
  subject: RateSubject;
  id: string;
}

/** Returns the subjects in the order in which they are reported. */
function subjectsOf({ organizationId, keyId, model }: RatePlace): Subject[] {
  const named = (subject: RateSubject, key: string, of: string): Subject => ({
    subject,
    organizationId,
    keyId: key,
    model: of,
    id: rowId(organizationId, key, of),
  });
  return [
    named("organization", "", ""),
    named("key", keyId, ""),
    named("model", "", model),
    named("key_model", keyId, model),
  ];
}

/** Returns the limits that apply if none is set for the subject itself. */
const standardFor = (
  { rows, context }: { rows: Rows; context: Pick<BatchContext, "rateDefaults"> },
  { subject }: Subject,
  model: string,
): RateLimits =>
  standardOf(subject, {
    defaults: context.rateDefaults,
    ofEach: rows.rateLimits.get(rowId("", "", model)),
  });

/** Returns why a request of this many tokens may not start now; null if it may. */
export const rateBlocks = (limited: readonly Limited[], asked: AskedTokens, nowMs: number): Blocked | null =>
  limited.length === 0 ? null : blockedBy(limited, asked, microseconds(nowMs));

/** Of a limit; a shorter prompt reserves too little to be worth a count. */
const SHORT_SHARE = 1 / 64;

/** Whether a prompt by its bound would leave less than half of a token limit, and is long beside that limit. */
export const takesMuch = (
  limited: readonly Limited[],
  { prompt, output }: { prompt: number; output: number },
  nowMs: number,
): boolean =>
  limited.some(
    ({ row: { tokensTat }, limits: { tokensPerMinute: limit } }) =>
      limit !== null &&
      prompt > limit * SHORT_SHARE &&
      remainingAt(tokensTat, microseconds(nowMs), limit) - prompt - output < limit / 2,
  );

/** Takes one request and its tokens from each limit. */
export function takeRate(
  batch: BatchState,
  limited: readonly Limited[],
  { tokens, postings }: { tokens: number; postings: AccountPostings },
): void {
  if (limited.length === 0) return;
  postings.markLimited();
  const nowUs = microseconds(batch.context.nowMs);
  for (const { row, limits } of limited) {
    const { requestsPerMinute, tokensPerMinute } = limits;
    if (requestsPerMinute !== null)
      row.requestsTat = takenAt(row.requestsTat, nowUs, costUs(1, requestsPerMinute));
    // Whatever the source of a token limit, the row records since when it takes tokens: earlier requests return none.
    if (tokensPerMinute === null) row.since = Math.max(row.since, postings.atMs);
    else row.tokensTat = takenAt(row.tokensTat, nowUs, costUs(tokens, tokensPerMinute));
    row.running += 1;
    batch.changes.rateLimits.add(row);
  }
}

/** Returns what is left of each limit per minute. */
export function standingsOf(limited: readonly Limited[], nowMs: number): RateStanding[] {
  const nowUs = microseconds(nowMs);
  const standings: RateStanding[] = [];
  for (const { subject, row, limits } of limited) {
    const { requestsPerMinute: requests, tokensPerMinute: tokens } = limits;
    if (requests !== null)
      standings.push({
        subject,
        of: "requests",
        limit: requests,
        ...standingAt(row.requestsTat, nowUs, requests),
      });
    if (tokens !== null)
      standings.push({ subject, of: "tokens", limit: tokens, ...standingAt(row.tokensTat, nowUs, tokens) });
  }
  return standings;
}

const standingAt = (
  tat: number,
  nowUs: number,
  limit: number,
): Pick<RateStanding, "remaining" | "resetMs"> => ({
  remaining: remainingAt(tat, nowUs, limit),
  resetMs: resetMs(tat, nowUs),
});

/** Ends a request that used this many tokens and returns the rest of its reservation. */
export function endRate(batch: BatchState, request: RequestRow, usedTokens: number): void {
  const reserved = request.promptBound + request.outputBound;
  const tokens = Math.min(usedTokens, reserved);
  forgetOpen(batch, request);
  for (const limited of countedFor(batch, request)) {
    limited.row.running = Math.max(0, limited.row.running - 1);
    returnTokens(batch, limited, request, { used: tokens, unused: reserved - tokens });
  }
}

/** Running requests were counted before any of them ended in this batch, so a row created now starts with the remaining ones. */
function forgetOpen({ rows: { openRequests } }: BatchState, request: RequestRow): void {
  if (openRequests.size === 0) return;
  for (const { id } of subjectsOf(request)) {
    const open = openRequests.get(id);
    if (open !== undefined) openRequests.set(id, Math.max(0, open - 1));
  }
}

/** Returns this many reserved tokens of a request that keeps running. */
export function lowerRate(batch: BatchState, request: RequestRow, unused: number): void {
  for (const limited of countedFor(batch, request))
    returnTokens(batch, limited, request, { used: 0, unused });
}

/** Returns the existing rows and marks each to be written. */
function countedFor(batch: BatchState, request: RequestRow): readonly Limited[] {
  return batch.rows.rateLimits.size === 0 ? NONE : countingFor(batch, request);
}

function countingFor(batch: BatchState, request: RequestRow): readonly Limited[] {
  const { rateLimits } = batch.rows;
  return batch.limitedEnding.get(request, () =>
    subjectsOf(request).flatMap((subject) => {
      const row = rateLimits.get(subject.id);
      if (row === undefined) return [];
      batch.changes.rateLimits.add(row);
      return [limitedOf(batch, subject, { standard: standardFor(batch, subject, request.model), row })];
    }),
  );
}

/** Counts tokens in use from the start of the request, as they were reserved. */
function returnTokens(
  { context }: BatchState,
  { row, limits: { tokensPerMinute } }: Limited,
  { admittedAtMs }: RequestRow,
  { used, unused }: { used: number; unused: number },
): void {
  if (tokensPerMinute === null || admittedAtMs <= row.since) return;
  // A stamp may be ahead of a clock that was set back.
  const beganUs = microseconds(Math.min(admittedAtMs, context.nowMs));
  const usedTat = takenAt(row.usedTat, beganUs, costUs(used, tokensPerMinute));
  // If the limit was lowered meanwhile, a request may have used more than can be taken.
  row.usedTat = Math.min(usedTat, row.tokensTat);
  row.tokensTat = givenBack(row.tokensTat, costUs(unused, tokensPerMinute), row.usedTat);
}
