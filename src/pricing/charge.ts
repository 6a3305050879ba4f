// What a finished request costs: exact bigint arithmetic, one rounding, upward, on the sum; then the minimum; never
// above the hold (money.md §6). Settlement and audit call this one function, so a charge can always be recomputed.
import type { Metered } from "../domain/gateway-object.ts";
import { MAX_NANO_USD, type NanoUsd, ZERO_USD, maxUsd, minUsd, nanoUsd, subUsd } from "../domain/money.ts";
import type { Price } from "../domain/release.ts";

/** Prices are nano-USD per this many tokens. */
const TOKENS_PER_RATE = 1_000_000n;

/** Whole tokens, 0 or more; `cachedTokens` are part of `promptTokens`, null = none known. */
export interface TokenCounts {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number | null;
}

export interface ChargeInput {
  /** What may be charged for. */
  usage: TokenCounts;
  /** What was used, where that is more. */
  told?: TokenCounts | null;
  price: Price;
  hold: NanoUsd;
  /** What an operator charged by hand follows from nothing. */
  evidence: Metered;
}

export interface Charge {
  /** 0 ≤ charge ≤ hold. */
  charge: NanoUsd;
  /** What the tokens that were used are worth above the charge; the platform pays it. */
  variance: NanoUsd;
  /** True when the tokens alone were worth less than the request minimum. */
  minimumApplied: boolean;
}

/** Turns rate × tokens sums into nano-USD, rounded up once. */
export function nanoFromRateSum(sum: bigint): NanoUsd {
  return nanoUsd((sum + TOKENS_PER_RATE - 1n) / TOKENS_PER_RATE);
}

/** Prices usage on a frozen release. Throws on token counts that are not whole numbers: a bug of the caller's. */
export function chargeOf({ usage, told = null, price, hold, evidence }: ChargeInput): Charge {
  if (evidence === "none") return { charge: ZERO_USD, variance: ZERO_USD, minimumApplied: false };
  const worth = worthOf(usage, price);
  const due = dueFor(worth, price);
  const charge = minUsd(due, hold);
  const used = told === null ? due : maxUsd(due, dueFor(worthOf(told, price), price));
  return { charge, variance: subUsd(used, charge), minimumApplied: worth < price.requestMinimum };
}

const dueFor = (worth: NanoUsd, { requestMinimum }: Price): NanoUsd =>
  minUsd(maxUsd(worth, requestMinimum), MAX_NANO_USD);

function worthOf(usage: TokenCounts, price: Price): NanoUsd {
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
