// One request as the ledger knows it: the receipt (the `gateway` object) with hold, attempts and timings. No content.
import type { RequestJson } from "../contract/admin.ts";
import { formatUsd, usdJsonNumber } from "../contract/money.ts";
import type { Operator } from "../contract/operator.ts";
import type { Release } from "../contract/release.ts";
import type { AttemptRecord, Ledger, RequestRecord } from "../ledger/ledger.ts";
import { printNumber, printTime, printTimeOrNull } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<Ledger, "release" | "request">;

export const requests = (ledger: Store): Operator["requests"] => ({
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
  gateway: printGateway(record, release),
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

const printGateway = (record: RequestRecord, release: Release): RequestJson["gateway"] => ({
  request_id: record.requestId,
  idempotency: {
    key: record.idempotencyKey,
    caller_supplied: record.idempotencyKey !== null,
    cross_request_replay_safe: record.idempotencyKey !== null,
  },
  public_model: record.model,
  provider: release.provider,
  route: {
    public_model: record.model,
    provider: release.provider,
    region: release.region,
    release_version: release.version,
  },
  access: { tier: record.tier, research_mode: record.researchMode },
  cost: record.state === "running" ? null : printCost(record),
  attempts: record.attempts.length,
});

const printCost = (record: RequestRecord): RequestJson["gateway"]["cost"] => ({
  input_tokens: record.usage?.promptTokens ?? 0,
  output_tokens: record.usage?.completionTokens ?? 0,
  customer_charge_usd: printNumber(usdJsonNumber(record.charge)),
  currency: "USD",
  minimum_applied: record.minimumApplied,
  evidence: record.evidence ?? "none",
});

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
