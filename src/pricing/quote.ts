// The upper bound of one request: tokens and money, before anything is held (money.md §6, wire.md §1.1). Pure,
// and independent of the order of the candidates, so that a quote and the call after it give the same figures.
import type { ChatRequest } from "../domain/chat-request.ts";
import { requestTooLong } from "../domain/context-length.ts";
import { type NanoUsd, ZERO_USD, maxUsd } from "../domain/money.ts";
import type { PromptSize } from "../domain/prompt.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Price } from "../domain/price.ts";
import type { Release } from "../domain/release.ts";
import { dearestRates, fineFromNano, nanoFromFine } from "./rates.ts";

const TOKENS_PER_MESSAGE = 8;
const TOKENS_PER_TOOL = 16;
const TOKENS_PER_REQUEST = 16;

/**
 * The source of the output ceiling: the caller's own maximum (`request`), the release's maximum below it
 * (`release_maximum`), the release's default (`release_default`), or that default lowered to the room left (`window`).
 */
type OutputTokensSource = "request" | "release_maximum" | "release_default" | "window";

export interface QuoteInput {
  request: Pick<ChatRequest, "maxTokens" | "n">;
  /** Live candidates that can serve the request, at least one. */
  releases: readonly Release[];
  /** The most on any of `releases`: the largest of their bounds, or what was counted. */
  promptTokens: number;
}

export interface Quote {
  promptTokensMax: number;
  /** O of wire.md §1, per choice: no candidate may send more upstream. */
  outputCeiling: number;
  outputTokensSource: OutputTokensSource;
  /** The upper limit of the charge on any of `releases`: that of the dearest. */
  hold: NanoUsd;
  /** The candidates whose window fits the request, in the order given. */
  releases: readonly Release[];
}

/** The release's maxima for one image and one file. */
export type FlatMaxima = Pick<Release, "imageTokensMax" | "fileTokensMax">;

/** Tokens of all but the texts: framing of the request, its messages and tools, images and files at their flat maxima. */
export function promptOverhead(size: PromptSize, release: FlatMaxima): number {
  return (
    size.messages * TOKENS_PER_MESSAGE +
    size.tools * TOKENS_PER_TOOL +
    TOKENS_PER_REQUEST +
    flatTokens(size.images, release.imageTokensMax, "image_tokens_max") +
    flatTokens(size.files, release.fileTokensMax, "file_tokens_max")
  );
}

/** The prompt bound in tokens: with byte-level BPE no text has more tokens than UTF-8 bytes, and all that is sent counts. */
export function promptBound(size: PromptSize, release: FlatMaxima): number {
  return size.bytes + promptOverhead(size, release);
}

/**
 * Quotes a request over its candidates. Candidates whose window is too small are left out. Throws
 * `Refusal("context_length_exceeded")` if none fits.
 */
export function quote(input: QuoteInput): Quote {
  const { releases, promptTokens: prompt } = input;
  const { maxTokens, n } = input.request;
  const fitting = fittingOf(releases, prompt + (maxTokens ?? 1));
  let ceiling: Ceiling | null = null;
  for (const release of fitting) {
    const own = ceilingOf(release, prompt, maxTokens);
    if (ceiling === null || own.tokens < ceiling.tokens) ceiling = own;
  }
  if (ceiling === null) throw contextRefusal(releases, prompt, maxTokens);

  let hold = ZERO_USD;
  for (const release of fitting) {
    hold = maxUsd(hold, holdOf(release.price, prompt, ceiling.tokens * n));
  }
  return {
    promptTokensMax: prompt,
    outputCeiling: ceiling.tokens,
    outputTokensSource: ceiling.source,
    hold,
    releases: fitting,
  };
}

/** Returns the releases whose window takes this many tokens: usually all of them. */
function fittingOf(releases: readonly Release[], tokens: number): readonly Release[] {
  for (const { contextWindow } of releases) if (contextWindow < tokens) return withRoom(releases, tokens);
  return releases;
}

const withRoom = (releases: readonly Release[], tokens: number): Release[] =>
  releases.filter(({ contextWindow }) => contextWindow >= tokens);

interface Ceiling {
  tokens: number;
  source: OutputTokensSource;
}

/** The most that these tokens can cost at this price, with calls, in nano-USD. `outputTokens` counts all choices together. */
export function holdOf(price: Price, promptTokens: number, outputTokens: number): NanoUsd {
  const dearest = dearestRates(price, promptTokens);
  const sum = BigInt(promptTokens) * dearest.prompt + BigInt(outputTokens) * dearest.output + dearest.calls;
  return maxUsd(nanoFromFine(sum), price.requestMinimum);
}

/**
 * Returns the largest output maximum per choice that `quote` prices within the budget on every candidate that
 * it then keeps; 0 if not even one token fits. A larger maximum is refused, or gives no more output than this.
 */
export function affordableMaxTokens(input: {
  releases: readonly Release[];
  promptTokens: number;
  n: number;
  budget: NanoUsd;
}): number {
  const { promptTokens } = input;
  if (input.releases.every(({ maxOutputTokens }) => maxOutputTokens === 0)) return 0; // vectors have no tokens
  const roomOf = (release: Release): number => release.contextWindow - promptTokens;
  // A larger maximum leaves out the candidates whose window it overruns, and the dearest may be among them.
  const rooms = [...new Set(input.releases.map(roomOf))].filter((room) => room > 0).toSorted((a, b) => b - a);
  for (const [i, room] of rooms.entries()) {
    const kept = input.releases.filter((release) => roomOf(release) >= room);
    const next = rooms[i + 1] ?? 0;
    const ceiling = Math.min(...kept.map(({ maxOutputTokens }) => maxOutputTokens));
    const payable = Math.min(...kept.map(({ price }) => payableTokens(price, input)));
    // Above its ceiling a larger maximum costs nothing more: it only leaves candidates out.
    const most = Math.min(room, payable >= ceiling ? Math.max(ceiling, next + 1) : payable);
    if (most > next) return most;
  }
  return 0;
}

/** Returns the output tokens per choice that the budget still pays after the prompt. */
function payableTokens(
  price: Price,
  { promptTokens, n, budget }: { promptTokens: number; n: number; budget: NanoUsd },
): number {
  const { prompt, output, calls } = dearestRates(price, promptTokens);
  const left = fineFromNano(budget) - BigInt(promptTokens) * prompt - calls;
  if (budget < price.requestMinimum || left < 0n) return 0;
  return output === 0n ? Number.MAX_SAFE_INTEGER : Number(left / output / BigInt(n));
}

function ceilingOf(release: Release, promptTokens: number, maxTokens: number | null): Ceiling {
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
  if (maxTokens === 0) return inputRefusal(widest.contextWindow, promptTokens);
  const completion = maxTokens ?? widest.defaultOutputTokens;
  return new Refusal(
    "context_length_exceeded",
    requestTooLong(widest.contextWindow, promptTokens, completion),
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

/** `most` is missing in a release that was stored before the field existed. */
function flatTokens(count: number, most: number | null | undefined, field: string): number {
  if (count === 0) return 0;
  if (typeof most === "number") return count * most;
  throw new Error(`a request that needs ${field} reached a release without it`);
}

/** The refusal for a request without output. */
const inputRefusal = (contextWindow: number, promptTokens: number): Refusal =>
  new Refusal(
    "context_length_exceeded",
    `This model takes at most ${contextWindow} tokens in one request, all inputs together. However, you sent ${promptTokens}. Send several requests.`,
    { param: "input", details: { context_window: contextWindow, prompt_tokens: promptTokens } },
  );
