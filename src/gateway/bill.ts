// From what arrived to what is charged (money.md §4, §6): the provider's usage where there is one, else what was
// delivered, counted by us, else nothing. Tokens above the quoted bounds are the house's loss, never the customer's.
import { type NanoUsd, ZERO_USD } from "../contract/money.ts";
import type { Evidence } from "../contract/gateway-object.ts";
import type { TokenUsage } from "../ledger/ledger.ts";
import { chargeOf } from "../pricing/charge.ts";
import { promptTokens } from "../pricing/tokens.ts";
import type { ProviderUsage } from "../providers/provider.ts";
import type { Candidate, Hold } from "./hold.ts";
import { chargedTokens, type Cost } from "./receipt.ts";

export interface Bill {
  evidence: Evidence;
  /** As reported or counted; the answer's `usage`. */
  usage: TokenUsage;
  charge: NanoUsd;
  variance: NanoUsd;
  minimumApplied: boolean;
}

const NOTHING: Bill = {
  evidence: "none",
  usage: { promptTokens: 0, completionTokens: 0, cachedTokens: null, reasoningTokens: null },
  charge: ZERO_USD,
  variance: ZERO_USD,
  minimumApplied: false,
};

/** What arrived: `deliveredTokens` counts on demand; `complete` means that the upstream said it was done. */
export interface Arrived {
  usage: ProviderUsage | null;
  deliveredTokens(): Promise<number>;
  complete: boolean;
}

/** Prices what arrived. */
export async function billOf(hold: Hold, candidate: Candidate, arrived: Arrived): Promise<Bill> {
  if (arrived.usage !== null) return priced(hold, candidate, arrived.usage, "provider_usage");
  const completion = await arrived.deliveredTokens();
  if (completion === 0 && !arrived.complete) return NOTHING;
  const prompt = await promptTokens(hold.admitted.request, candidate.release);
  const usage = {
    promptTokens: prompt,
    completionTokens: completion,
    cachedTokens: null,
    reasoningTokens: null,
  };
  return priced(hold, candidate, usage, "delivered_tokens");
}

function priced(hold: Hold, candidate: Candidate, usage: TokenUsage, evidence: Evidence): Bill {
  return {
    evidence,
    usage,
    ...chargeOf({ usage, evidence, price: candidate.release.price, hold: hold.admitted.amount }),
  };
}

/** The `cost` member. */
export function costOf(bill: Bill, hold: Hold): Cost {
  const { promptTokensMax, outputTokensMax } = hold.admitted;
  const { charge, minimumApplied, evidence, variance } = bill;
  const tokens = chargedTokens(bill.usage, {
    promptBound: promptTokensMax,
    outputBound: outputTokensMax,
    variance,
  });
  return { ...tokens, charge, minimumApplied, evidence };
}
