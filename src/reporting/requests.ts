// One request from the ledger: the receipt (the `gateway` object) with hold, attempts and timings; or the
// request log's entry of one that held nothing. No content.
import type { HeldNothingJson, RequestJson } from "../api/shapes/requests.ts";
import { formatUsd, type NanoUsd, usdJsonNumber } from "../domain/money.ts";
import type { Release } from "../domain/release.ts";
import { printClassCounts } from "../domain/token-classes.ts";
import { printGateway, receiptOfRecord } from "../gateway/receipt.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { AttemptRecord, RequestRecord } from "../ledger/records.ts";
import type { Sql } from "../store/sql.ts";
import { heldNothing } from "./held-nothing.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import { refundedOf } from "./refunds.ts";
import { missingRelease } from "../ledger/unreadable.ts";
import { printNumber, printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { readRelease } from "../registry/releases.ts";
import { readRequest } from "../registry/requests.ts";

export interface RequestPorts {
  ledger: Reader;
  sql: Sql;
  /** So that readers find a refusal that they have just received. */
  flushRequestLog(): Promise<void>;
}

export const requests = (on: RequestPorts) => ({
  async show(id: string): Promise<RequestJson | HeldNothingJson> {
    const record = await readRequest(on.ledger, id);
    if (record !== null) return await requestOf(on, record);
    await on.flushRequestLog();
    const held = await heldNothing(on.sql, id);
    if (held === null) throw unknownRecord("request", id, "id");
    return held;
  },
});

/** Throws for a record whose release is missing from the ledger. */
export async function requestOf(
  { ledger, sql }: Pick<RequestPorts, "ledger" | "sql">,
  record: RequestRecord,
): Promise<RequestJson> {
  const release = await readRelease(ledger, record.releaseDigest);
  if (release === null) throw missingRelease(record.requestId);
  return printRequest(record, release, await refundedOf(sql, record.organizationId, record.requestId));
}

const printRequest = (record: RequestRecord, release: Release, refunded: NanoUsd): RequestJson => ({
  id: record.requestId,
  org: record.organizationId,
  key: record.keyId,
  state: record.state,
  status: record.status,
  error_code: record.errorCode,
  finish_reason: record.finishReason,
  surface: record.surface,
  stream: record.stream,
  admitted_at: printTime(record.admittedAtMs),
  ended_at: printTimeOrNull(record.endedAtMs),
  month: record.month,
  hold_usd: formatUsd(record.hold),
  charge_usd: formatUsd(record.charge),
  refunded_usd: formatUsd(refunded),
  variance_usd: formatUsd(record.variance),
  bounds: { prompt_tokens: record.promptBound, output_tokens: record.outputBound },
  usage: record.usage === null ? null : printUsage(record.usage),
  release_digest: record.releaseDigest,
  gateway: gatewayOf(record, release),
  attempts: record.attempts.map(printAttempt),
  timings: { first_part_ms: record.firstPartMs, total_ms: record.totalMs },
});

const printUsage = (usage: NonNullable<RequestRecord["usage"]>): RequestJson["usage"] => ({
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
  total_tokens: usage.promptTokens + usage.completionTokens,
  cached_tokens: usage.cachedTokens,
  ...printClassCounts(usage),
  reasoning_tokens: usage.reasoningTokens,
});

/**
 * The same object that the response carried; its amount is printed from the bigint again, not from a float.
 */
function gatewayOf(record: RequestRecord, release: Release): RequestJson["gateway"] {
  const gateway = JSON.parse(printGateway(receiptOfRecord(record, release))) as RequestJson["gateway"];
  if (gateway.cost === undefined) return gateway;
  const customer_charge_usd = printNumber(usdJsonNumber(record.charge));
  return { ...gateway, cost: { ...gateway.cost, customer_charge_usd } };
}

const printAttempt = (attempt: AttemptRecord): RequestJson["attempts"][number] => ({
  n: attempt.n,
  route: attempt.route,
  provider: attempt.provider,
  outcome: attempt.outcome,
  status: attempt.upstreamStatus,
  upstream_id: attempt.upstreamId,
  error_class: attempt.errorClass,
  words: attempt.words ?? null,
  started_at: printTime(attempt.startedAtMs),
  ms: attempt.durationMs,
  doubts: attempt.doubts ?? [],
  told: attempt.told === undefined ? null : printTold(attempt.told),
});

const printTold = (told: TokenCounts): NonNullable<RequestJson["attempts"][number]["told"]> => ({
  prompt_tokens: told.promptTokens,
  completion_tokens: told.completionTokens,
  cached_tokens: told.cachedTokens,
  ...printClassCounts(told),
});
