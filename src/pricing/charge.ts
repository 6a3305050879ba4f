// What a finished request costs: exact bigint arithmetic, one rounding, upward, on the sum; then the minimum; never
// above the hold (money.md §6). Settlement and audit call this one function, so a charge can always be recomputed.
import type { Evidence } from "../contract/gateway-object.ts";
import { MAX_NANO_USD, type NanoUsd, ZERO_USD, maxUsd, minUsd, nanoUsd, subUsd } from "../contract/money.ts";
import type { Price } from "../contract/release.ts";

/** Prices are nano-USD per this many tokens. */
const TOKENS_PER_RATE = 1_000_000n;

export interface ChargeInput {
  /** Whole tokens, 0 or more; `cachedTokens` are part of `promptTokens`, null = none known. */
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number | null };
  price: Price;
  hold: NanoUsd;
  evidence: Evidence;
}

export interface Charge {
  /** 0 ≤ charge ≤ hold. */
  charge: NanoUsd;
  /** What the tokens were worth above the hold; the house pays it. */
  variance: NanoUsd;
  /** True when the tokens alone were worth less than the request minimum. */
  minimumApplied: boolean;
}

/** Turns rate × tokens sums into nano-USD, rounded up once. */
export function nanoFromRateSum(sum: bigint): NanoUsd {
  return nanoUsd((sum + TOKENS_PER_RATE - 1n) / TOKENS_PER_RATE);
}

/** Prices usage on a frozen release. Throws on token counts that are not whole numbers: a bug of the caller's. */
export function chargeOf({ usage, price, hold, evidence }: ChargeInput): Charge {
  if (evidence === "none") return { charge: ZERO_USD, variance: ZERO_USD, minimumApplied: false };
  const worth = worthOf(usage, price);
  const due = minUsd(maxUsd(worth, price.requestMinimum), MAX_NANO_USD);
  const charge = minUsd(due, hold);
  return { charge, variance: subUsd(due, charge), minimumApplied: worth < price.requestMinimum };
}

function worthOf(usage: ChargeInput["usage"], price: Price): NanoUsd {
  const prompt = tokens(usage.promptTokens);
  const reported = tokens(usage.cachedTokens ?? 0);
  const cached = reported > prompt ? prompt : reported;
  return nanoFromRateSum(
    (prompt - cached) * price.input +
      cached * price.cachedInput +
      tokens(usage.completionTokens) * price.output,
  );
}

function tokens(count: number): bigint {
  if (!Number.isSafeInteger(count) || count < 0) throw new Error(`not a token count: ${count}`);
  return BigInt(count);
}
