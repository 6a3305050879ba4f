// Which tokens are charged for: what a provider tells is a claim, held against the quote and against what it provably
// delivered (money.md §4, §6; providers.md §4). The one place where usage enters; every sum after it stays small.
import type { Release } from "../domain/release.ts";
import type { TokenCounts } from "./charge.ts";

export interface ToldUsage extends TokenCounts {
  reasoningTokens: number | null;
}

export interface Quoted {
  /** P and O × n: what the hold covers. */
  promptTokensMax: number;
  outputTokensMax: number;
  /** What the model could take and give at all, all choices together. */
  windowTokens: number;
}

export interface Believed<T extends TokenCounts> {
  /** Within the quoted bounds. */
  usage: T;
  /**
   * What was used beyond what may be charged, for the platform's variance; null where that is nothing. A figure that the
   * model's window cannot hold is no figure: it says nothing about what was used.
   */
  told: TokenCounts | null;
  /** Something was above its bound. */
  clamped: boolean;
}

/** Clamps usage to the quoted bounds; parts stay parts of their sums. */
export function believedUsage<T extends ToldUsage>(usage: T, quoted: Quoted): Believed<T> {
  const { promptTokens: prompt, completionTokens: completion, cachedTokens, reasoningTokens } = usage;
  const promptTokens = Math.min(prompt, quoted.promptTokensMax);
  const completionTokens = Math.min(completion, quoted.outputTokensMax);
  if (promptTokens === prompt && completionTokens === completion)
    return { usage, told: null, clamped: false };
  const possible = (told: number, bound: number): number => (told <= quoted.windowTokens ? told : bound);
  const told = {
    promptTokens: possible(prompt, promptTokens),
    completionTokens: possible(completion, completionTokens),
    cachedTokens,
  };
  const beyond = told.promptTokens > promptTokens || told.completionTokens > completionTokens;
  return {
    usage: {
      ...usage,
      promptTokens,
      completionTokens,
      cachedTokens: cachedTokens === null ? null : Math.min(cachedTokens, promptTokens),
      reasoningTokens: reasoningTokens === null ? null : Math.min(reasoningTokens, completionTokens),
    },
    told: beyond ? told : null,
    clamped: true,
  };
}

/** No tokenizer in use averages more characters per token over a whole answer; beyond it a count decides. */
export const CHARACTERS_PER_TOKEN_MAX = 16;
/** Of a short answer another tokenizer may make this much less than ours. */
const TOKENS_UNPROVEN = 64;

/**
 * Whether so much text may have been told as so few tokens. No text is no tokens: where the release names its model's
 * tokenizer, any text disproves a zero. `bytes` names none, its count is a bound and no proof.
 */
export const isPlausible = (
  completionTokens: number,
  characters: number,
  { tokenizer }: Pick<Release, "tokenizer">,
): boolean =>
  completionTokens === 0 && tokenizer !== "bytes"
    ? characters === 0
    : characters <= CHARACTERS_PER_TOKEN_MAX * (completionTokens + TOKENS_UNPROVEN);
