// Decides which tokens are charged for: usage reported by a provider is a claim, compared with the quote and with what
// it provably delivered (money.md §4, §6; providers.md §4). The only place where usage enters, so every later sum stays
// small.
import type { Release } from "../domain/release.ts";
import type { Price } from "../domain/price.ts";
import { COUNTED_CLASSES, type TokenClasses } from "../domain/token-classes.ts";
import { partsOf, type TokenCounts } from "./cost-lines.ts";

export interface ToldUsage extends TokenCounts {
  reasoningTokens: number | null;
}

export interface Quoted {
  /** P and O × n: what the hold covers. */
  promptTokensMax: number;
  outputTokensMax: number;
  /** The most that the model can take and return, all choices together. */
  windowTokens: number;
  /** Paid calls on the provider's side that the hold covers. */
  callsMax: number;
}

export interface Believed<T extends TokenCounts> {
  /** Usage within the quoted bounds. */
  usage: T;
  /**
   * Usage beyond what may be charged, for the platform's variance; null if there is none. A figure
   * that exceeds the model's window is ignored: it says nothing about what was used.
   */
  told: TokenCounts | null;
  /** True if something was above its bound. */
  clamped: boolean;
}

/**
 * Returns the reported usage as it is stored: totals, and each class with a count above zero. A service tier that the
 * release does not publish changes no price and is left out.
 */
export function meteredUsage<T extends TokenClasses & { promptTokens: number; completionTokens: number }>(
  told: T,
  { serviceTiers }: Price,
): ToldUsage {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens, serviceTier } = told;
  const usage: ToldUsage = { promptTokens, completionTokens, cachedTokens, reasoningTokens };
  for (const name of COUNTED_CLASSES) {
    const count = told[name];
    if (count !== null && count > 0) usage[name] = count;
  }
  if (serviceTier !== null && serviceTiers !== undefined && Object.hasOwn(serviceTiers, serviceTier))
    usage.serviceTier = serviceTier;
  return usage;
}

/** Clamps usage to the quoted bounds; classes stay disjoint parts of their totals. */
export function believedUsage<T extends ToldUsage>(usage: T, quoted: Quoted): Believed<T> {
  const { promptTokens: prompt, completionTokens: completion, calls = 0 } = usage;
  const promptTokens = Math.min(prompt, quoted.promptTokensMax);
  const completionTokens = Math.min(completion, quoted.outputTokensMax);
  const callsBeyond = calls > quoted.callsMax;
  const believed = { ...usage, promptTokens, completionTokens };
  if (callsBeyond) believed.calls = quoted.callsMax;
  cutParts(believed);
  const clamped = promptTokens < prompt || completionTokens < completion || callsBeyond;
  if (!clamped) return { usage: believed, told: null, clamped };
  const { windowTokens } = quoted;
  const { reasoningTokens: _, ...priced } = usage;
  const told: TokenCounts = {
    ...priced,
    promptTokens: possible(prompt, promptTokens, windowTokens),
    completionTokens: possible(completion, completionTokens, windowTokens),
    ...(callsBeyond && { calls: possible(calls, quoted.callsMax, windowTokens) }),
  };
  const beyond =
    told.promptTokens > promptTokens ||
    told.completionTokens > completionTokens ||
    (told.calls ?? 0) > quoted.callsMax;
  return { usage: believed, told: beyond ? told : null, clamped };
}

const possible = (told: number, bound: number, windowTokens: number): number =>
  told <= windowTokens ? told : bound;

/** Cuts its classes to its totals. */
function cutParts(usage: ToldUsage): void {
  const parts = partsOf(usage);
  if (usage.cachedTokens !== null) usage.cachedTokens = parts.cached_input;
  if (usage.reasoningTokens !== null)
    usage.reasoningTokens = Math.min(usage.reasoningTokens, usage.completionTokens);
  if (usage.cacheWriteTokens !== undefined) usage.cacheWriteTokens = parts.cache_write + parts.cache_write_1h;
  if (usage.cacheWrite1hTokens !== undefined) usage.cacheWrite1hTokens = parts.cache_write_1h;
  if (usage.audioInputTokens !== undefined) usage.audioInputTokens = parts.audio_input;
  if (usage.imageInputTokens !== undefined) usage.imageInputTokens = parts.image_input;
  if (usage.audioOutputTokens !== undefined) usage.audioOutputTokens = parts.audio_output;
}

/** No tokenizer in use averages more characters per token over a whole answer; above this a count decides. */
export const CHARACTERS_PER_TOKEN_MAX = 16;
/** For a short answer, another tokenizer may give this many tokens fewer than ours. */
const TOKENS_UNPROVEN = 64;

/**
 * True if this much text can be as few tokens as reported. Only an empty text has no tokens: if the release names its
 * model's tokenizer, any text disproves a zero. `bytes` names no tokenizer; its count is a bound and no proof.
 */
export const isPlausible = (
  completionTokens: number,
  characters: number,
  { tokenizer }: Pick<Release, "tokenizer">,
): boolean =>
  completionTokens === 0 && tokenizer !== "bytes"
    ? characters === 0
    : characters <= CHARACTERS_PER_TOKEN_MAX * (completionTokens + TOKENS_UNPROVEN);
