// The cost of a request as one reads it: lines, their sum rounded up once, the minimum, what was charged, what went
// back. The same function that settlement charged with; a test compares the two.
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type * as spendShapes from "../api/shapes/spend.ts";
import type { z } from "zod";
import { formatUsd, maxUsd, type NanoUsd, nanoUsd, subUsd } from "../domain/money.ts";
import type { Price, Release } from "../domain/release.ts";
import type { RequestRecord } from "../ledger/ledger.ts";
import { nanoFromRateSum } from "../pricing/charge.ts";

export type Arithmetic = NonNullable<z.output<typeof spendShapes.activityDetail>["arithmetic"]>;
type Estimate = z.output<typeof catalogueShapes.estimate>;

interface Tokens {
  input: number;
  cached: number;
  output: number;
}

export function arithmeticOf(record: RequestRecord, release: Release): Arithmetic | null {
  const { usage } = record;
  if (usage === null) return null;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const tokens = { input: usage.promptTokens, cached, output: usage.completionTokens };
  // What an operator charged follows from no tokens.
  const { lines, sum } =
    record.evidence === "operator" ? { lines: [], sum: record.charge } : worthOf(tokens, release.price);
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

/** What these tokens would cost, minimum included. */
export function estimateOf(tokens: Tokens, { price }: Release): Estimate {
  const { lines, sum } = worthOf(tokens, price);
  return {
    lines,
    sum_usd: formatUsd(sum),
    minimum_usd: formatUsd(price.requestMinimum),
    minimum_applied: sum < price.requestMinimum,
    charge_usd: formatUsd(maxUsd(sum, price.requestMinimum)),
  };
}

function worthOf(
  { input, cached, output }: Tokens,
  price: Price,
): { lines: Arithmetic["lines"]; sum: NanoUsd } {
  const parts = [
    { name: "input", tokens: input - cached, rate: price.input },
    ...(cached > 0 ? [{ name: "cached_input", tokens: cached, rate: price.cachedInput } as const] : []),
    { name: "output", tokens: output, rate: price.output },
  ] as const;
  const lines = parts.map(({ name, tokens, rate }) => ({
    name,
    tokens,
    usd_per_million: formatUsd(rate),
    amount_usd: formatUsd(nanoFromRateSum(BigInt(tokens) * rate)),
  }));
  const exact = parts.reduce((total, { tokens, rate }) => total + BigInt(tokens) * rate, 0n);
  return { lines, sum: nanoFromRateSum(nanoUsd(exact)) };
}
