// One request as the ledger knows it: the receipt (the `gateway` object) with hold, attempts and timings. No content.
import type { RequestJson } from "../contract/admin.ts";
import { formatUsd, usdJsonNumber } from "../contract/money.ts";
import type { Operator } from "../contract/operator.ts";
import type { Release } from "../contract/release.ts";
import { printGateway, receiptOfRecord } from "../gateway/receipt.ts";
import type { AttemptRecord, Ledger, RequestRecord } from "../ledger/ledger.ts";
import { printNumber, printTime, printTimeOrNull } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<Ledger, "release" | "request">;

export const requests = (ledger: Store): Pick<Operator["requests"], "show"> => ({
  async show(id) {
    const record = await ledger.request(id);
    if (record === null) throw unknownRecord("request", id, "id");
    const release = await ledger.release(record.releaseDigest);
    if (release === null) throw new Error(`request ${id} names a release that the ledger does not have`);
    return printRequest(record, release);
  },
});

const printRequest = (record: RequestRecord, release: Release): RequestJson => ({
  id: record.requestId,
  org: record.organizationId,
  key: record.keyId,
  state: record.state,
  status: record.status,
  error_code: record.errorCode,
  finish_reason: record.finishReason,
  stream: record.stream,
  admitted_at: printTime(record.admittedAtMs),
  ended_at: printTimeOrNull(record.endedAtMs),
  month: record.month,
  hold_usd: formatUsd(record.hold),
  charge_usd: formatUsd(record.charge),
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
  reasoning_tokens: usage.reasoningTokens,
});

/** The very object that the answer carried; its one amount is printed from the bigint again, not from a float. */
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
  started_at: printTime(attempt.startedAtMs),
  ms: attempt.durationMs,
});
