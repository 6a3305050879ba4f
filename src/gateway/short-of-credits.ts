// The complete 402. The ledger knows what is needed, available and held; which figures of the request made that need, and what
// would be admitted instead, is known here (wire.md §4).
import type { ChatRequest } from "../domain/chat-request.ts";
import { formatUsd, ZERO_USD } from "../domain/money.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Shortage } from "../ledger/ledger.ts";
import { affordableMaxTokens, holdOf } from "../pricing/quote.ts";
import type { PreparedRequest } from "./prepared-request.ts";

type Credits = Extract<Shortage, { of: "credits" }>;

/** Returns other refusals, and those of a request without a price, unchanged. */
export function withWayOut(
  prepared: PreparedRequest,
  { refusal, short }: { refusal: Refusal; short?: Shortage },
): Refusal {
  const { request, wanted, counted } = prepared;
  if (short?.of !== "credits" || request === null || "refusal" in wanted) return refusal;
  const { promptTokensMax, outputCeiling } = wanted;
  const affordable = affordableBy(prepared, request, short);
  const prompt = counted
    ? `${promptTokensMax} prompt tokens, counted,`
    : `at most ${promptTokensMax} prompt tokens, by their bytes,`;
  const output = `${outputCeiling * request.n} output tokens`;
  const message = `${refusal.message} It was priced for ${prompt} and ${output}. ${wayOut(prepared, short, affordable)}`;
  return new Refusal(refusal.code, message, {
    param: refusal.param,
    details: {
      ...refusal.details,
      prompt_tokens: promptTokensMax,
      prompt_tokens_source: counted ? "counted" : "bytes",
      output_tokens: outputCeiling * request.n,
      affordable_max_tokens: affordable,
    },
  });
}

/** Nothing is admitted while something is owed. */
function affordableBy(prepared: PreparedRequest, request: ChatRequest, { available, debt }: Credits): number {
  if ("refusal" in prepared.wanted || debt > 0n) return 0;
  return affordableMaxTokens({
    releases: prepared.candidates.map(({ release }) => release),
    promptTokens: prepared.wanted.promptTokensMax,
    n: request.n,
    budget: available,
  });
}

function wayOut(prepared: PreparedRequest, { held, debt }: Credits, affordable: number): string {
  if (debt > 0n) return "Add credits; they are used first to pay what is owed.";
  const wait =
    held === 0n
      ? ""
      : " Credits that running requests hold but do not use are released when those requests end.";
  if (prepared.request?.maxTokens === 0) return `Add credits, or send fewer inputs in one request.${wait}`;
  if (affordable > 0)
    return `Add credits, or set max_tokens to ${affordable} or less, which the credits cover now.${wait}`;
  return `${leastOf(prepared)} Add credits, or shorten the messages: no max_tokens is low enough.${wait}`;
}

/** What even one token of output would hold. */
function leastOf({ candidates, wanted, request }: PreparedRequest): string {
  if ("refusal" in wanted) return "";
  const holds = candidates.map(({ release }) =>
    holdOf(release.price, wanted.promptTokensMax, request?.n ?? 1),
  );
  const least = holds.reduce((most, hold) => (hold > most ? hold : most), ZERO_USD);
  return `Even with one token of output it may cost $${formatUsd(least)}.`;
}
