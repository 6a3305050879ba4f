// A charge, line by line: the count and rate of each class of tokens, and what turns their sum into
// the charge. The lines add up to it exactly, to the last digit (providers.md §4).
import { TOKEN_CLASSES, type KnownClasses, type TokenClass } from "../domain/token-classes.ts";
import { decimalText, type NanoUsd, maxUsd } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import { FINE_PLACES, fineFromNano, finePerCall, nanoFromFine, type RateCard, rateCard } from "./rates.ts";

/** Whole tokens, 0 or more, with their known classes. */
export interface TokenCounts extends KnownClasses {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number | null;
}

/**
 * Returns tokens by class: disjoint, and together the prompt and the completion. A token of two classes counts in the
 * first of cached, written, audio, image; all others are plain. Throws for an invalid count, which is a bug of the caller.
 */
export function partsOf(usage: TokenCounts): Record<TokenClass, number> {
  const prompt = whole(usage.promptTokens);
  const completion = whole(usage.completionTokens);
  const cached = Math.min(whole(usage.cachedTokens ?? 0), prompt);
  const written = Math.min(whole(usage.cacheWriteTokens ?? 0), prompt - cached);
  const hourly = Math.min(whole(usage.cacheWrite1hTokens ?? 0), written);
  const audio = Math.min(whole(usage.audioInputTokens ?? 0), prompt - cached - written);
  const images = Math.min(whole(usage.imageInputTokens ?? 0), prompt - cached - written - audio);
  const spoken = Math.min(whole(usage.audioOutputTokens ?? 0), completion);
  return {
    input: prompt - cached - written - audio - images,
    cached_input: cached,
    cache_write: written - hourly,
    cache_write_1h: hourly,
    audio_input: audio,
    image_input: images,
    output: completion - spoken,
    audio_output: spoken,
  };
}

/** A line for something paid per piece. */
export interface MeteredLine {
  name: TokenClass | "calls";
  count: number;
  /** The cost of one, in the unit of `rates.ts`. */
  each: bigint;
  /** The cost of all of them. */
  amount: bigint;
}

/** Returns the metered lines at the rates of the reached tiers; a class with a count of zero has no line. */
export function meteredLines(usage: TokenCounts, price: Price): MeteredLine[] {
  const parts = partsOf(usage);
  const { each } = rateCard(price, usage.promptTokens, usage.serviceTier ?? null);
  const lines: MeteredLine[] = [];
  for (const name of TOKEN_CLASSES)
    if (parts[name] > 0) lines.push(meteredLine(name, parts[name], each[name]));
  const calls = whole(usage.calls ?? 0);
  if (calls > 0) lines.push(meteredLine("calls", calls, finePerCall(price)));
  return lines;
}

const meteredLine = (name: MeteredLine["name"], count: number, each: bigint): MeteredLine => ({
  name,
  count,
  each,
  amount: BigInt(count) * each,
});

/** Returns the exact sum of lines. */
export function fineSum(lines: readonly MeteredLine[]): bigint {
  let sum = 0n;
  for (const { amount } of lines) sum += amount;
  return sum;
}

/** A printed line: amounts and rates are exact decimal strings of US dollars. */
export interface CostLine {
  class: TokenClass | "calls" | "rounding" | "request_minimum" | "above_hold" | "operator";
  tokens?: number;
  calls?: number;
  usd_per_million?: string;
  usd_per_thousand?: string;
  amount_usd: string;
}

/**
 * Returns the lines of a charge: what was metered, then its rounding up to a nano-dollar, what a
 * request minimum added, and what the hold cut off. They add up to the charge, whatever it is.
 */
export function costLines(usage: TokenCounts, price: Price, charge: NanoUsd): CostLine[] {
  const metered = meteredLines(usage, price);
  const sum = fineSum(metered);
  const worth = nanoFromFine(sum);
  const due = maxUsd(worth, price.requestMinimum);
  const card = rateCard(price, usage.promptTokens, usage.serviceTier ?? null);
  const lines: CostLine[] = [];
  for (const line of metered) lines.push(printLine(line, card));
  adjust(lines, "rounding", fineFromNano(worth) - sum);
  if (due !== worth) adjust(lines, "request_minimum", fineFromNano(due - worth));
  if (charge !== due) adjust(lines, "above_hold", fineFromNano(charge - due));
  return lines;
}

function adjust(lines: CostLine[], name: CostLine["class"], amount: bigint): void {
  if (amount !== 0n) lines.push({ class: name, amount_usd: decimalText(amount, FINE_PLACES) });
}

function printLine({ name, count, each, amount }: MeteredLine, card: RateCard): CostLine {
  const amount_usd = decimalText(amount, FINE_PLACES);
  return name === "calls"
    ? { class: name, calls: count, usd_per_thousand: decimalText(each * 1000n, FINE_PLACES), amount_usd }
    : { class: name, tokens: count, usd_per_million: card.perMillion(name), amount_usd };
}

/** True if these are whole token counts; those read from a damaged row may not be. */
export function areCounts(usage: TokenCounts & { reasoningTokens?: unknown }): boolean {
  for (const name in usage) {
    const count = usage[name as keyof typeof usage];
    if (name !== "serviceTier" && count !== null && !isCount(count)) return false;
  }
  return true;
}

const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;

function whole(count: number): number {
  if (!isCount(count)) throw new Error(`not a count: ${count}`);
  return count;
}
