// The charge of a receipt, worked out again from the tokens that it states by the very function that settled it.
import { type NanoUsd, parseUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import type { ReceiptJson } from "../domain/receipt.ts";
import { readClassCounts } from "../domain/token-classes.ts";
import { chargeOf } from "./charge.ts";
import type { TokenCounts } from "./cost-lines.ts";

/** Counts of tokens by class, as a receipt tells them. */
export const countsOfReceipt = (usage: ReceiptJson["usage"]): TokenCounts => ({
  promptTokens: usage?.prompt_tokens ?? 0,
  completionTokens: usage?.completion_tokens ?? 0,
  cachedTokens: usage?.cached_tokens ?? 0,
  ...(usage && readClassCounts(usage)),
});

/** Of what an operator charged by hand: nothing follows from tokens. */
export function chargeOfReceipt(
  { usage, charge, told }: ReceiptJson,
  { price, hold }: { price: Price; hold: NanoUsd },
): ReturnType<typeof chargeOf> {
  return chargeOf({
    usage: countsOfReceipt(usage),
    told: told === undefined ? null : countsOfReceipt(told),
    price,
    hold,
    evidence: charge.evidence === "operator" ? "none" : charge.evidence,
  });
}

/** Null for what is no amount of dollars. */
export function nanoOf(text: string): NanoUsd | null {
  if (!text.startsWith("-")) return parseUsd(text);
  const amount = parseUsd(text.slice(1));
  return amount === null ? null : subUsd(ZERO_USD, amount);
}
