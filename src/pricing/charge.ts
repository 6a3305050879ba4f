// The cost of a finished request: exact bigint arithmetic, one rounding, upward, on the sum; then the minimum; never above
// the hold (money.md §6, providers.md §4). Settlement and audit call this function, so a charge can always be recomputed.
import type { Metered } from "../domain/gateway-object.ts";
import { MAX_NANO_USD, type NanoUsd, ZERO_USD, maxUsd, minUsd, subUsd } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import { fineSum, meteredLines, type TokenCounts } from "./cost-lines.ts";
import { nanoFromFine } from "./rates.ts";

export interface ChargeInput {
  /** The usage that may be charged for. */
  usage: TokenCounts;
  /** The actual usage, if that is more. */
  told?: TokenCounts | null;
  price: Price;
  hold: NanoUsd;
  /** Excludes `operator`: a charge set by hand follows from nothing. */
  evidence: Metered;
}

export interface Charge {
  /** 0 ≤ charge ≤ hold. */
  charge: NanoUsd;
  /** What the tokens used are worth above the charge; the platform pays it. */
  variance: NanoUsd;
  /** True if the tokens alone cost less than the request minimum. */
  minimumApplied: boolean;
}

/** Prices usage on a frozen release. Throws on token counts that are not whole numbers, which is a bug of the caller. */
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

/** The cost without a minimum and without a hold. */
const worthOf = (usage: TokenCounts, price: Price): NanoUsd =>
  nanoFromFine(fineSum(meteredLines(usage, price)));
