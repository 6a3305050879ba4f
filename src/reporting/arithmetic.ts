// The calculation of a request's cost for people: lines, their sum rounded up once, the minimum, the charge,
// refunds. Uses the function that settlement charged with; a test compares the two.
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type * as activityShapes from "../api/shapes/activity.ts";
import type { z } from "zod";
import { formatUsd, maxUsd, type NanoUsd, subUsd } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import type { Release } from "../domain/release.ts";
import type { RequestRecord } from "../ledger/records.ts";
import {
  areCounts,
  fineSum,
  type MeteredLine,
  meteredLines,
  type TokenCounts,
} from "../pricing/cost-lines.ts";
import { nanoFromFine } from "../pricing/rates.ts";

export type Arithmetic = NonNullable<z.output<typeof activityShapes.activityDetail>["arithmetic"]>;
type Estimate = z.output<typeof catalogueShapes.estimate>;

/**
 * Null if no usage of the request is known. No lines for charges set by an operator, nor for damaged counts.
 */
export function arithmeticOf(record: RequestRecord, release: Release): Arithmetic | null {
  const { usage } = record;
  if (usage === null) return null;
  // An operator's charge is not computed from tokens, and nothing can be computed from damaged counts.
  const { lines, sum } =
    record.evidence === "operator" || !areCounts(usage)
      ? { lines: [], sum: record.charge }
      : worthOf(usage, release.price);
  return {
    lines,
    sum_usd: formatUsd(sum),
    minimum_usd: formatUsd(release.price.requestMinimum),
    minimum_applied: record.minimumApplied,
    charge_usd: formatUsd(record.charge),
    hold_usd: formatUsd(record.hold),
    returned_usd: formatUsd(subUsd(record.hold, record.charge)),
    variance_usd: formatUsd(record.variance),
    evidence: record.evidence,
    release_version: release.version,
  };
}

interface Tokens {
  input: number;
  cached: number;
  output: number;
}

/** The cost of these tokens, minimum included. */
export function estimateOf({ input, cached, output }: Tokens, { price }: Release): Estimate {
  const usage = { promptTokens: input, cachedTokens: cached, completionTokens: output };
  const { lines, sum } = worthOf(usage, price);
  return {
    lines,
    sum_usd: formatUsd(sum),
    minimum_usd: formatUsd(price.requestMinimum),
    minimum_applied: sum < price.requestMinimum,
    charge_usd: formatUsd(maxUsd(sum, price.requestMinimum)),
  };
}

function worthOf(usage: TokenCounts, price: Price): { lines: Arithmetic["lines"]; sum: NanoUsd } {
  const metered = meteredLines(usage, price);
  return { lines: metered.map(printLine), sum: nanoFromFine(fineSum(metered)) };
}

const printLine = ({ name, count, each }: MeteredLine): Arithmetic["lines"][number] => ({
  name,
  tokens: count,
  usd_per_million: formatUsd(nanoFromFine(each * 1_000_000n)),
  amount_usd: formatUsd(nanoFromFine(BigInt(count) * each)),
});
