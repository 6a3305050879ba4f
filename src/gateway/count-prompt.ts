// Counts exactly a prompt whose byte bound alone refused its request (money.md §6): as far as a count could still admit it, while
// its client waits, and for a limited time.
import { Refusal } from "../domain/refusals.ts";
import { counted } from "../domain/counted.ts";
import { type RateSubject, WHOSE } from "../domain/rate-limits.ts";
import type { AdmissionDecision, Shortage, TokensLeft } from "../ledger/ledger.ts";
import { admissiblePromptTokens } from "../pricing/admissible-prompt.ts";
import { promptOverhead } from "../pricing/quote.ts";
import type { Count } from "../pricing/token-counter.ts";
import { promptTokensWithin, type CountingFor } from "../pricing/tokens.ts";
import { type PreparedRequest, requoted } from "./prepared-request.ts";
import type { Candidate } from "./hold.ts";
import { isCountable } from "./running-holds.ts";

type Refused = Extract<AdmissionDecision, { kind: "refused" }>;
type OfTokens = Extract<Shortage, { of: "tokens_per_minute" }>;

/** What is known beside a refusal of token limits. */
export interface TokenTerms {
  /** The tokens that running requests of this process may have reserved in vain, of those that a limit counts. */
  reclaimable(subject: RateSubject): number;
  /** Whether a count is also worth it where it cannot admit, for an exact time to retry. Asked once per request. */
  mayCountRefused(): boolean;
}
const ONLY_TO_ADMIT: TokenTerms = { reclaimable: () => 0, mayCountRefused: () => false };

/** A million tokens of prose take two seconds. */
const COUNTED_WITHIN_MS = 10_000;

/**
 * Whether to count the prompt of this request exactly, and up to how many tokens: if a count could still admit it. Null: not. With
 * the tokenizer `bytes` none could.
 */
export function worthCounting(
  prepared: PreparedRequest,
  { refusal, short }: Refused,
  terms: TokenTerms = ONLY_TO_ADMIT,
): { atMost: number } | null {
  if (!isOnlyBounded(prepared)) return null;
  if (short?.of === "tokens_per_minute") {
    const least = leastPrompt(prepared);
    const ever = roomForPrompt(prepared, short, ({ limit }) => limit);
    if (ever >= least && terms.mayCountRefused()) return { atMost: ever };
    const now = roomForPrompt(
      prepared,
      short,
      ({ subject, remaining }) => remaining + terms.reclaimable(subject),
    );
    return now >= least ? { atMost: now } : null;
  }
  return refusal.code === "insufficient_credits" || refusal.code === "context_length_exceeded"
    ? { atMost: Number.POSITIVE_INFINITY }
    : null;
}

const isOnlyBounded = ({ counted, candidates }: PreparedRequest): boolean =>
  !counted && candidates.some(isCountable);

/** The prompt tokens that fit beside the least output into what each token limit has. */
const roomForPrompt = (
  prepared: PreparedRequest,
  { limits }: OfTokens,
  has: (left: TokensLeft) => number,
): number => Math.min(...limits.map(has)) - leastOutput(prepared);

/** Whatever a count leaves of the window, no candidate is asked for fewer tokens of output. */
function leastOutput({ request, candidates, wanted }: PreparedRequest): number {
  let output = "refusal" in wanted ? Number.POSITIVE_INFINITY : wanted.outputCeiling;
  for (const { release } of candidates)
    output = Math.min(output, release.maxOutputTokens, request?.maxTokens ?? release.defaultOutputTokens);
  return output * (request?.n ?? 1);
}

/** As if the prompt consisted only of the flat overheads. */
const leastPrompt = ({ candidates }: Pick<PreparedRequest, "candidates">): number =>
  Math.max(...candidates.map(({ body, release }) => promptOverhead(body.size, release)));

/** The refusal of a token limit, which says so if it is of the bound. */
export function ofTheBound(prepared: PreparedRequest, refused: Refused): Refused {
  if (refused.short?.of !== "tokens_per_minute" || !isOnlyBounded(prepared)) return refused;
  return because(
    refused,
    "The figure is an upper bound: one token for each byte of the messages. They are counted as soon as a count could admit the request.",
  );
}

/**
 * Returns the request on exactly counted tokens. If the count did not end, returns the refusal that stands: the byte bound's, with
 * the reason, or 429 or 503 if too much is waiting to be counted.
 */
export async function countPrompt(
  prepared: PreparedRequest,
  refused: Refused,
  { atMost = Number.POSITIVE_INFINITY, withinMs = COUNTED_WITHIN_MS, ...client }: Counting,
): Promise<PreparedRequest | Refused> {
  const { request, candidates } = prepared;
  if (request === null || candidates.length === 0) throw new Error("nothing to count");
  const releases = candidates.map(({ release }) => release);
  const { short } = refused;
  const most = Math.min(
    atMost,
    admissiblePromptTokens(request, releases, short?.of === "credits" ? short.available : null),
  );
  try {
    const count = await countedOver(candidates, { ...client, lane: "admission", atMost: most }, withinMs);
    return count.kind === "exact" ? requoted(prepared, count.tokens) : unended(prepared, refused, count);
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", refusal: error, authenticated: true };
    throw error;
  }
}

/** For whom, up to how many tokens, and until when: the time in milliseconds includes the wait for a turn. */
interface Counting {
  organizationId: string;
  signal: AbortSignal;
  atMost?: number;
  withinMs?: number;
}

/** Tokens of the candidate with the highest count; or of the first whose count did not end. */
export async function countedOver(
  candidates: readonly Candidate[],
  limits: CountingFor & { atMost: number; signal?: AbortSignal },
  withinMs: number,
): Promise<Count> {
  const untilMs = performance.now() + withinMs;
  let tokens = 0;
  for (const { body, release } of candidates) {
    const deadlineMs = Math.max(0, untilMs - performance.now());
    const count = await promptTokensWithin(body, release, { ...limits, deadlineMs });
    if (count.kind !== "exact") return count;
    tokens = Math.max(tokens, count.tokens);
  }
  return { kind: "exact", tokens };
}

/** The refusal, with the reason why a count did not replace it. */
function unended(prepared: PreparedRequest, refused: Refused, { kind, tokens }: Count): Refused {
  if (kind === "above" && refused.refusal.code === "context_length_exceeded") {
    const { wanted } = requoted(prepared, tokens);
    if ("refusal" in wanted)
      return because(
        { ...refused, refusal: wanted.refusal },
        "Counting stopped before the end of the messages.",
      );
  }
  if (kind === "above" && refused.short?.of === "tokens_per_minute") {
    const atLeast = tokens + leastOutput(prepared);
    const limit = refused.short.limits.find((left) => left.limit < atLeast);
    if (limit !== undefined) return { ...refused, refusal: neverFits(refused.refusal, limit, atLeast) };
  }
  return because(
    refused,
    kind === "above"
      ? `The figure is an upper bound: one token for each byte of the messages. Counting stopped at ${tokens} tokens, already more than ${suppliedBy(refused)}.`
      : `The figure is an upper bound: one token for each byte of the messages. The count took more than ${COUNTED_WITHIN_MS / 1000} seconds. Try again later, or shorten the messages.`,
  );
}

const suppliedBy = ({ short }: Refused): string =>
  short?.of === "tokens_per_minute" ? "the limit leaves now" : "the credits cover";

/** The refusal of a request whose count alone is above a whole minute of a limit. */
const neverFits = (
  { code, type, details }: Refusal,
  { subject, limit, remaining }: TokensLeft,
  atLeast: number,
) =>
  new Refusal(
    code,
    `${WHOSE[subject]} may use ${counted(limit, "token")} per minute, and this request alone may use more than ${atLeast - 1}: counting stopped there. Lower max_tokens, or shorten the messages.`,
    { type, retry: false, details: { ...details, subject, limit, remaining, tokens: atLeast } },
  );

const because = ({ refusal, ...refused }: Refused, why: string): Refused => ({
  ...refused,
  refusal: new Refusal(refusal.code, `${refusal.message} ${why}`, {
    param: refusal.param,
    type: refusal.type,
    retry: refusal.retry,
    ...(refusal.retryAfterMs !== undefined && { retryAfterMs: refusal.retryAfterMs }),
    ...(refusal.details && { details: refusal.details }),
  }),
});
