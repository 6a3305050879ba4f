// The receipt: one record behind the `gateway` object, the settlement and the usage row (specification 2.2: "the cost
// figures equal the charge"). Its charge is printed from the bigint's decimal text, never through a float.
import type { Evidence, Tier } from "../domain/gateway-object.ts";
import { type NanoUsd, usdJsonNumber } from "../domain/money.ts";
import type { Release } from "../domain/release.ts";
import type { Candidate, Hold } from "./hold.ts";
import { generatedKey, type IdempotencyKey } from "./idempotency.ts";
import { areCounts, type CostLine, costLines } from "../pricing/cost-lines.ts";
import type { RequestRecord, TokenUsage } from "../ledger/records.ts";

export interface Route {
  publicModel: string;
  provider: string;
  region: string;
  releaseVersion: number;
  tier: Tier;
}

export interface Cost {
  inputTokens: number;
  outputTokens: number;
  charge: NanoUsd;
  minimumApplied: boolean;
  evidence: Evidence;
  /** They add up to the charge; empty if nothing is charged, the release is not known, or the record is damaged. */
  lines: CostLine[];
}

/** What is known while a request runs; each further member becomes known later. */
export interface Receipt {
  requestId: string;
  idempotency: IdempotencyKey;
  route: Route | null;
  researchMode: boolean;
  attempts: number;
  cost: Cost | null;
}

/** The receipt of an admitted request: with its route once a candidate serves it, with its cost once it is priced. */
export function receiptOf(hold: Hold, candidate: Candidate | null, cost: Cost | null): Receipt {
  const { requestId, idempotency, candidates, researchMode } = hold.admitted;
  const release = (candidate ?? candidates[0])?.release;
  return {
    requestId,
    idempotency,
    route: release ? routeOf(release) : null,
    researchMode,
    attempts: hold.attempts.length,
    cost,
  };
}

/** Created once for each release: every one of its answers carries it. */
export function routeOf(release: Release): Route {
  const known = ROUTES.get(release);
  if (known !== undefined) return known;
  const route: Route = {
    publicModel: release.model,
    provider: release.provider,
    region: release.region,
    releaseVersion: release.version,
    tier: release.tier,
  };
  ROUTES.set(release, route);
  return route;
}

const ROUTES = new WeakMap<Release, Route>();

/** The receipt of a stored request, identical to the one in its answer (specification 2.2). */
export function receiptOfRecord(record: RequestRecord, release: Release | null): Receipt {
  const { requestId, idempotencyKey, usage, evidence } = record;
  const idempotency =
    idempotencyKey === null ? generatedKey(requestId) : { value: idempotencyKey, callerSupplied: true };
  return {
    requestId,
    idempotency,
    route: release && routeOf(release),
    researchMode: record.researchMode,
    attempts: record.attempts.length,
    cost: usage &&
      evidence && {
        ...chargedTokens(usage, record),
        charge: record.charge,
        minimumApplied: record.minimumApplied,
        evidence,
        lines: linesOf({ usage, evidence, charge: record.charge }, release),
      },
  };
}

/** The lines that the charge consists of. */
export function linesOf(
  { usage, evidence, charge }: { usage: TokenUsage; evidence: Evidence; charge: NanoUsd },
  release: Release | null,
): CostLine[] {
  if (evidence === "none" || release === null) return [];
  if (!areCounts(usage)) return [];
  if (evidence === "operator") return [{ class: "operator", amount_usd: usdJsonNumber(charge) }];
  return costLines(usage, release.price, charge);
}

/** The tokens that were charged: at most the quoted bounds if the hold capped the charge. */
export function chargedTokens(
  usage: Pick<TokenUsage, "promptTokens" | "completionTokens">,
  quoted: { promptBound: number; outputBound: number; variance: NanoUsd },
): Pick<Cost, "inputTokens" | "outputTokens"> {
  const { promptTokens, completionTokens } = usage;
  if (quoted.variance === 0n) return { inputTokens: promptTokens, outputTokens: completionTokens };
  return {
    inputTokens: Math.min(promptTokens, quoted.promptBound),
    outputTokens: Math.min(completionTokens, quoted.outputBound),
  };
}

/** Prints the `gateway` object as JSON text; members that are not known yet are left out. */
export function printGateway(receipt: Receipt): string {
  const { requestId, idempotency, route, cost } = receipt;
  const { value, callerSupplied } = idempotency;
  const known =
    `{"request_id":${JSON.stringify(requestId)},"idempotency":{"key":${JSON.stringify(value)}` +
    `,"caller_supplied":${callerSupplied},"cross_request_replay_safe":${callerSupplied}}`;
  const priced = cost === null ? "" : printCost(cost);
  if (route === null) return `${known}${priced}}`;
  return `${known}${printedRoute(route)}${receipt.researchMode}}${priced},"attempts":${receipt.attempts}}`;
}

/**
 * Everything that a release says about itself, up to the member that says whether this request is in Research Mode; printed once.
 */
function printedRoute(route: Route): string {
  const known = PRINTED.get(route);
  if (known !== undefined) return known;
  const model = JSON.stringify(route.publicModel);
  const provider = JSON.stringify(route.provider);
  const text =
    `,"public_model":${model},"provider":${provider}` +
    `,"route":{"public_model":${model},"provider":${provider},"region":${JSON.stringify(route.region)},"release_version":${route.releaseVersion}}` +
    `,"access":{"tier":"${route.tier}","research_mode":`;
  PRINTED.set(route, text);
  return text;
}

const PRINTED = new WeakMap<Route, string>();

const printCost = (cost: Cost): string =>
  `,"cost":{"input_tokens":${cost.inputTokens},"output_tokens":${cost.outputTokens}` +
  `,"customer_charge_usd":${usdJsonNumber(cost.charge)},"currency":"USD"` +
  `,"minimum_applied":${cost.minimumApplied},"evidence":"${cost.evidence}","lines":${JSON.stringify(cost.lines)}}`;
