// Token counts with a release's own tokenizer, for the cases that need them: the byte bound refused (money.md §6), a
// provider reported no usage, a stream's progress is stored. Counting runs on two threads, one for what decides
// admissions and one for what was admitted, so that a refused prompt never delays a settlement; on each, the
// organizations take turns (docs/decisions/0023-whose-turn-it-is-to-be-counted.md).
import { overloaded } from "../domain/overloaded.ts";
import type { Prompt } from "../domain/prompt.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release, TokenizerName } from "../domain/release.ts";
import { type FlatMaxima, promptBound, promptOverhead } from "./quote.ts";
import { type Count, type CountLimits, TokenCounter } from "./token-counter.ts";
import type { TableName } from "./vocabulary.ts";

/**
 * The purpose of a count: `settlement` of what was delivered goes first; `progress` of running
 * requests shares its thread; `admission` has its own thread and a bounded queue.
 */
type CountingLane = "settlement" | "progress" | "admission";

/** The organization whose turn a count takes, and its lane. */
export interface CountingFor {
  organizationId: string;
  lane: CountingLane;
}

/** The text that may wait for admission, per organization and in total: if more is already waiting, the next one is refused. */
const WAITING_BYTES_PER_ORGANIZATION = 16 * 1024 * 1024;
const WAITING_BYTES = 8 * WAITING_BYTES_PER_ORGANIZATION;

/** Shared by all gateways of the process: their threads end with it, or after a long idle time. */
const admitting = new TokenCounter();
const admitted = new TokenCounter();

/** Returns the tokens of the texts together, as one continuous text; for the tokenizer `bytes`, their UTF-8 bytes. */
export async function countTokens(
  texts: readonly string[],
  tokenizer: TokenizerName,
  share: CountingFor & { lane: "settlement" | "progress" },
): Promise<number> {
  const text = texts.join("");
  if (tokenizer === "bytes") return Buffer.byteLength(text);
  return (await admitted.count(text, tokenizer, limitsOf(share))).tokens;
}

/**
 * Returns the prompt tokens of what is sent to a release: its text counted, everything around it at
 * the flat overheads of the prompt bound, and never more than that bound.
 */
export async function promptTokens(
  prompt: Prompt,
  release: Pick<Release, "tokenizer"> & FlatMaxima,
  share: CountingFor & { lane: "settlement" | "progress" },
): Promise<number> {
  return (await promptTokensWithin(prompt, release, share)).tokens;
}

/**
 * Does the same, but stops if there are more tokens than `atMost` with text remaining, after `deadlineMs`
 * (milliseconds from now), or on the signal: `tokens` is then the count so far, flat overheads included. For the lane
 * `admission`, throws `Refusal` 429 if too much of the organization waits to be counted, 503 if too much of all does.
 */
export async function promptTokensWithin(
  prompt: Prompt,
  { tokenizer, ...flat }: Pick<Release, "tokenizer"> & FlatMaxima,
  limits: CountingFor & Pick<CountLimits, "atMost" | "deadlineMs" | "signal">,
): Promise<Count> {
  const bound = promptBound(prompt.size, flat);
  const overhead = promptOverhead(prompt.size, flat);
  const total = (tokens: number): number => Math.min(bound, tokens + overhead);
  if (tokenizer === "bytes") return { kind: "exact", tokens: total(Buffer.byteLength(prompt.text())) };
  const known = COUNTED.get(prompt);
  if (known?.tokenizer === tokenizer) return { kind: "exact", tokens: total(known.tokens) };
  const { atMost = Number.POSITIVE_INFINITY } = limits;
  const { kind, tokens } = await counterOf(limits).count(() => prompt.text(), tokenizer, {
    ...limits,
    ...limitsOf(limits),
    bytes: prompt.size.bytes,
    atMost: atMost - overhead,
  });
  if (kind === "exact") COUNTED.set(prompt, { tokenizer, tokens });
  return { kind, tokens: total(tokens) };
}

/** Counts of running requests: a prompt is counted once for its quote, its progress and its settlement. */
const COUNTED = new WeakMap<Prompt, { tokenizer: TableName; tokens: number }>();

function counterOf({ lane, organizationId }: CountingFor): TokenCounter {
  if (lane !== "admission") return admitted;
  if (admitting.waiting(organizationId) > WAITING_BYTES_PER_ORGANIZATION) throw tooMuchToCount();
  if (admitting.waiting() > WAITING_BYTES) throw overloaded();
  return admitting;
}

const limitsOf = ({ organizationId, lane }: CountingFor): Pick<CountLimits, "organizationId" | "rank"> => ({
  organizationId,
  rank: lane === "progress" ? 1 : 0,
});

const tooMuchToCount = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    `${WAITING_BYTES_PER_ORGANIZATION / 1024 / 1024} MB of this organization's prompts are already waiting to be counted, because only an exact count could admit them. Send long prompts one at a time, or wait as long as Retry-After says.`,
    { retryAfterMs: 2_000 },
  );
