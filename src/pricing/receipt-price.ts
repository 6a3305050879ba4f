// Recomputes the charge of a receipt from the tokens that it states, with the function that settled it.
import { type NanoUsd, parseUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import type { ReceiptJson } from "../domain/receipt.ts";
import { readClassCounts } from "../domain/token-classes.ts";
import { chargeOf } from "./charge.ts";
import type { TokenCounts } from "./cost-lines.ts";

/** Returns the token counts by class from a receipt. */
export const countsOfReceipt = (usage: ReceiptJson["usage"]): TokenCounts => ({
  promptTokens: usage?.prompt_tokens ?? 0,
  completionTokens: usage?.completion_tokens ?? 0,
  cachedTokens: usage?.cached_tokens ?? 0,
  ...(usage && readClassCounts(usage)),
});

/** For a charge set by an operator nothing follows from tokens. */
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

/** Returns null if the text is not an amount of dollars. */
export function nanoOf(text: string): NanoUsd | null {
  if (!text.startsWith("-")) return parseUsd(text);
  const amount = parseUsd(text.slice(1));
  return amount === null ? null : subUsd(ZERO_USD, amount);
}
