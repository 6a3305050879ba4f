// The upper bound of one request: tokens and money, before anything is held (money.md §6, wire.md §1.1). Pure, and
// independent of the order of the candidates, so that a quote and the call after it give the same figures.
import type { ChatRequest, PromptSize } from "../contract/chat-request.ts";
import { type NanoUsd, ZERO_USD, maxUsd } from "../contract/money.ts";
import { Refusal } from "../contract/refusals.ts";
import type { Price, Release } from "../contract/release.ts";
import { nanoFromRateSum } from "./charge.ts";

const TOKENS_PER_MESSAGE = 8;
const TOKENS_PER_TOOL = 16;
const TOKENS_PER_REQUEST = 16;

/**
 * Where the output ceiling comes from: the caller's own maximum (`request`), the release's maximum below it
 * (`release_maximum`), the release's default (`release_default`), or that default lowered to the room left (`window`).
 */
export type OutputTokensSource = "request" | "release_maximum" | "release_default" | "window";

export interface QuoteInput {
  request: Pick<ChatRequest, "promptSize" | "maxTokens" | "n">;
  /** Live candidates that can serve the request, at least one. */
  releases: readonly Release[];
  /** Exact count of prompt tokens; null = not counted, the byte bound is taken. */
  promptTokens: number | null;
}

export interface Quote {
  promptTokensMax: number;
  /** O of wire.md §1, per choice: no candidate may send more upstream. */
  outputTokensMax: number;
  outputTokensSource: OutputTokensSource;
  /** Upper limit of the charge on any of `releases`: the dearest of them. */
  hold: NanoUsd;
  /** The candidates whose window fits the request, in the order given. */
  releases: readonly Release[];
}

/** Tokens of everything around the texts: framing of the request, its messages and tools, and images at their flat maximum. */
export function promptOverhead(size: PromptSize, imageTokensMax: number | null): number {
  return (
    size.messages * TOKENS_PER_MESSAGE +
    size.tools * TOKENS_PER_TOOL +
    TOKENS_PER_REQUEST +
    size.images * imageTokens(size, imageTokensMax)
  );
}

/** The prompt bound in tokens: for byte-level BPE no text has more tokens than UTF-8 bytes. */
export function promptBound(size: PromptSize, imageTokensMax: number | null): number {
  return size.bytes + promptOverhead(size, imageTokensMax);
}

/** The prompt bound over all candidates: they may count images differently. */
export function promptBoundOver(size: PromptSize, releases: readonly Release[]): number {
  let bound = 0;
  for (const release of releases) bound = Math.max(bound, promptBound(size, release.imageTokensMax));
  return bound;
}

/**
 * Quotes a request over its candidates. Candidates whose window is too small are left out.
 * Throws `Refusal("context_length_exceeded")` when none fits.
 */
export function quote(input: QuoteInput): Quote {
  const { releases } = input;
  const { maxTokens, n, promptSize } = input.request;
  const prompt = input.promptTokens ?? promptBoundOver(promptSize, releases);
  const fits = (release: Release): boolean => prompt + (maxTokens ?? 1) <= release.contextWindow;
  const fitting = releases.every(fits) ? releases : releases.filter(fits);
  const [first, ...others] = fitting;
  if (first === undefined) throw contextRefusal(releases, prompt, maxTokens);

  let ceiling = ceilingOf(first, prompt, maxTokens);
  for (const release of others) {
    const other = ceilingOf(release, prompt, maxTokens);
    if (other.tokens < ceiling.tokens) ceiling = other;
  }
  let hold = ZERO_USD;
  for (const release of fitting) {
    hold = maxUsd(hold, holdOf(release.price, prompt, ceiling.tokens * n));
  }
  return {
    promptTokensMax: prompt,
    outputTokensMax: ceiling.tokens,
    outputTokensSource: ceiling.source,
    hold,
    releases: fitting,
  };
}

/** The most that these tokens can cost at this price: nano-USD. `outputTokens` counts all choices together. */
export function holdOf(price: Price, promptTokens: number, outputTokens: number): NanoUsd {
  const sum = BigInt(promptTokens) * promptRate(price) + BigInt(outputTokens) * price.output;
  return maxUsd(nanoFromRateSum(sum), price.requestMinimum);
}

/**
 * The largest output ceiling per choice whose hold fits the budget on every candidate, and that window and
 * `max_output_tokens` allow; 0 if not even one token does. The budget is the smaller of credits and key headroom.
 */
export function affordableMaxTokens(input: {
  releases: readonly Release[];
  promptTokens: number;
  n: number;
  budget: NanoUsd;
}): number {
  const { promptTokens, n, budget } = input;
  const fitting = input.releases.filter((release) => promptTokens < release.contextWindow);
  let most = fitting.length === 0 ? 0 : Number.MAX_SAFE_INTEGER;
  for (const { price, maxOutputTokens, contextWindow } of fitting) {
    const payable = payableTokens(price, promptTokens, budget) / BigInt(n);
    most = Math.min(most, maxOutputTokens, contextWindow - promptTokens, Number(payable));
  }
  return most;
}

/** Output tokens, all choices together, that the budget still pays after the prompt. */
function payableTokens(price: Price, promptTokens: number, budget: NanoUsd): bigint {
  const left = budget * 1_000_000n - BigInt(promptTokens) * promptRate(price);
  if (budget < price.requestMinimum || left < 0n) return 0n;
  return price.output === 0n ? BigInt(Number.MAX_SAFE_INTEGER) : left / price.output;
}

/** A cached rate above the input rate is dearer still, so the bound takes the higher one. */
const promptRate = (price: Price): NanoUsd => maxUsd(price.input, price.cachedInput);

function ceilingOf(
  release: Release,
  promptTokens: number,
  maxTokens: number | null,
): { tokens: number; source: OutputTokensSource } {
  if (maxTokens !== null) {
    return maxTokens <= release.maxOutputTokens
      ? { tokens: maxTokens, source: "request" }
      : { tokens: release.maxOutputTokens, source: "release_maximum" };
  }
  const room = release.contextWindow - promptTokens;
  return release.defaultOutputTokens <= room
    ? { tokens: release.defaultOutputTokens, source: "release_default" }
    : { tokens: room, source: "window" };
}

function contextRefusal(
  releases: readonly Release[],
  promptTokens: number,
  maxTokens: number | null,
): Refusal {
  const widest = releases.reduce<Release | null>(
    (best, release) => (best === null || release.contextWindow > best.contextWindow ? release : best),
    null,
  );
  if (widest === null) throw new Error("a quote needs at least one candidate");
  const completion = maxTokens ?? widest.defaultOutputTokens;
  return new Refusal(
    "context_length_exceeded",
    `This model's maximum context length is ${widest.contextWindow} tokens. However, you requested ${promptTokens + completion} tokens (${promptTokens} in the messages, ${completion} in the completion).`,
    {
      param: "messages",
      details: {
        context_window: widest.contextWindow,
        prompt_tokens: promptTokens,
        max_tokens: maxTokens,
      },
    },
  );
}

function imageTokens(size: PromptSize, imageTokensMax: number | null): number {
  if (imageTokensMax !== null || size.images === 0) return imageTokensMax ?? 0;
  throw new Error("a request with images reached a release without image_tokens_max");
}
