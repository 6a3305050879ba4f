// From what arrived to what is charged (money.md §4, §6). A provider's usage is a claim: it is used if it can be true, is never
// less than what was provably delivered before a cut, and is never above the quoted bounds. Usage beyond those is the platform's
// loss, never the customer's.
import { type NanoUsd, ZERO_USD } from "../domain/money.ts";
import type { Metered } from "../domain/gateway-object.ts";
import type { Doubt, TokenUsage } from "../ledger/records.ts";
import { believedUsage, isPlausible, meteredUsage } from "../pricing/believed-usage.ts";
import { chargeOf } from "../pricing/charge.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import { promptTokens } from "../pricing/tokens.ts";
import type { ProviderUsage } from "../providers/provider.ts";
import type { Candidate, Hold } from "./hold.ts";
import { chargedTokens, type Cost, linesOf } from "./receipt.ts";

export interface Bill {
  evidence: Metered;
  /** Within the quoted bounds; the `usage` of the answer. */
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

/** The part of an answer that arrived. */
export interface Arrived {
  usage: ProviderUsage | null;
  /** UTF-16 units of what was delivered and is certainly the model's; `deliveredTokens` counts them on demand. */
  characters: number;
  deliveredTokens(): Promise<number>;
  /** The usage was reported at the end of an answer that was not cut, so it covers the whole answer. */
  final: boolean;
  /** Each choice was refused, or withheld by a filter: the model may not have run, and the words may be a guard's. */
  refused: boolean;
  failed: boolean;
  /** The answer was cut because it exceeded its output maximum. */
  overrun: boolean;
  /** The attempt that records what was not believed. */
  attempt: NotesDoubt;
}

export interface NotesDoubt {
  doubt(doubts: Doubt[], told: TokenCounts | null): void;
}

/** Prices what arrived; synchronously unless it has to be counted. */
export function billOf(hold: Hold, candidate: Candidate, arrived: Arrived): Bill | Promise<Bill> {
  if (arrived.usage === null) return counted(hold, candidate, arrived);
  const usage = meteredUsage(arrived.usage, candidate.release.price);
  const plausible =
    isPlausible(usage.completionTokens, arrived.characters, candidate.release) ||
    (arrived.refused && usage.completionTokens === 0);
  if (arrived.final && plausible)
    return priced(hold, candidate, { arrived, usage, evidence: "provider_usage", doubts: NO_DOUBTS });
  return compared(hold, candidate, { arrived, usage, plausible });
}

/** The provider's usage does not cover all that was delivered, or cannot be true: the larger of it and our own count applies. */
async function compared(
  hold: Hold,
  candidate: Candidate,
  { arrived, usage, plausible }: { arrived: Arrived; usage: TokenUsage; plausible: boolean },
): Promise<Bill> {
  const delivered = await arrived.deliveredTokens();
  const completionTokens = Math.max(usage.completionTokens, delivered);
  const unread = usage.promptTokens === 0 && completionTokens > 0 && candidate.release.tokenizer !== "bytes";
  if (delivered <= usage.completionTokens && !unread)
    return priced(hold, candidate, { arrived, usage, evidence: "provider_usage", doubts: NO_DOUBTS });
  return priced(hold, candidate, {
    arrived,
    usage: {
      ...usage,
      // No model produces output without having read input: a zero was reported before the count was known.
      promptTokens: unread ? await promptOf(hold, candidate) : usage.promptTokens,
      completionTokens,
    },
    evidence: "delivered_tokens",
    doubts: plausible && !unread ? NO_DOUBTS : ["usage_below_delivered"],
  });
}

/** Tokens of what was sent upstream, by our own count. */
function promptOf(hold: Hold, { body, release }: Candidate): Promise<number> {
  const { organizationId } = hold.admitted;
  return promptTokens(body, release, { organizationId, lane: "settlement" });
}

const NO_DOUBTS: readonly Doubt[] = [];

/** The provider reported no usage. */
async function counted(hold: Hold, candidate: Candidate, arrived: Arrived): Promise<Bill> {
  const completion = await arrived.deliveredTokens();
  if (completion === 0 && (arrived.failed || arrived.refused)) return NOTHING;
  const usage = {
    promptTokens: await promptOf(hold, candidate),
    completionTokens: completion,
    cachedTokens: null,
    reasoningTokens: null,
  };
  return priced(hold, candidate, { arrived, usage, evidence: "delivered_tokens", doubts: NO_DOUBTS });
}

interface Claimed {
  arrived: Arrived;
  usage: TokenUsage;
  evidence: Metered;
  doubts: readonly Doubt[];
}

function priced(hold: Hold, { release }: Candidate, claimed: Claimed): Bill {
  const { arrived, evidence, doubts: claimedDoubts } = claimed;
  const { promptBound, hold: amount } = hold.terms;
  const { outputTokensMax, request } = hold.admitted;
  const windowTokens = release.contextWindow * request.n;
  const { usage, told, clamped } = believedUsage(claimed.usage, {
    promptTokensMax: promptBound,
    outputTokensMax,
    windowTokens,
    callsMax: release.price.callsMax ?? 0,
  });
  const beyond = arrived.overrun || (told?.completionTokens ?? 0) > outputTokensMax;
  if (clamped || beyond || claimedDoubts.length > 0) {
    const doubts = [...claimedDoubts];
    if (clamped) doubts.push("usage_clamped");
    if (beyond) doubts.push("output_above_maximum");
    arrived.attempt.doubt(doubts, told);
  }
  const priced = chargeOf({ usage, told, evidence, price: release.price, hold: amount });
  const { charge, variance, minimumApplied } = priced;
  return { evidence, usage, charge, variance, minimumApplied };
}

/** The `cost` member. */
export function costOf(bill: Bill, hold: Hold, { release }: Candidate): Cost {
  const { promptBound } = hold.terms;
  const { outputTokensMax } = hold.admitted;
  const { charge, minimumApplied, evidence, variance } = bill;
  const tokens = chargedTokens(bill.usage, {
    promptBound,
    outputBound: outputTokensMax,
    variance,
  });
  return {
    ...tokens,
    charge,
    minimumApplied,
    evidence,
    lines: linesOf(bill, release),
  };
}
