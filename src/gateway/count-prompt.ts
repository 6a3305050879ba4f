// Counts exactly a prompt whose byte bound alone refused its request (money.md §6): as far as a count could still admit it, while
// its client waits, and for a limited time.
import { Refusal } from "../domain/refusals.ts";
import type { AdmissionDecision } from "../ledger/ledger.ts";
import { admissiblePromptTokens } from "../pricing/admissible-prompt.ts";
import type { Count } from "../pricing/token-counter.ts";
import { promptTokensWithin, type CountingFor } from "../pricing/tokens.ts";
import { type PreparedRequest, requoted } from "./prepared-request.ts";
import type { Candidate } from "./hold.ts";

type Refused = Extract<AdmissionDecision, { kind: "refused" }>;

/** Includes the wait for a turn. A million tokens of prose take two seconds. */
const COUNTED_WITHIN_MS = 10_000;

/** Whether an exact count could still admit this request; with the tokenizer `bytes` it could not. */
export const onlyTheBoundRefused = (prepared: PreparedRequest, refusal: Refusal): boolean =>
  !prepared.counted &&
  prepared.candidates.some(({ release }) => release.tokenizer !== "bytes") &&
  (refusal.code === "insufficient_credits" ||
    refusal.code === "context_length_exceeded" ||
    neverFits(refusal));

/** Whether the request alone exceeds a whole minute of a token limit. */
const neverFits = ({ code, type, retry }: Refusal): boolean =>
  code === "rate_limit_exceeded" && type === "tokens" && !retry;

/**
 * Returns the request on exactly counted tokens. If the count did not end, returns the refusal that stands: the byte bound's, with
 * the reason, or 429 or 503 if too much is waiting to be counted.
 */
export async function countPrompt(
  prepared: PreparedRequest,
  refused: Refused,
  client: { organizationId: string; signal: AbortSignal },
): Promise<PreparedRequest | Refused> {
  const { request, candidates } = prepared;
  if (request === null || candidates.length === 0) throw new Error("nothing to count");
  const releases = candidates.map(({ release }) => release);
  const atMost = admissiblePromptTokens(
    request,
    releases,
    refused.short?.of === "credits" ? refused.short.available : null,
  );
  try {
    const count = await countedOver(candidates, { ...client, lane: "admission", atMost }, COUNTED_WITHIN_MS);
    return count.kind === "exact" ? requoted(prepared, count.tokens) : unended(prepared, refused, count);
  } catch (error) {
    if (error instanceof Refusal) return { kind: "refused", refusal: error, authenticated: true };
    throw error;
  }
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
  return because(
    refused,
    kind === "above"
      ? `The figure is an upper bound: one token for each byte of the messages. Counting stopped at ${tokens} tokens, already more than ${refused.short?.of === "tokens_per_minute" ? "the model accepts" : "the credits cover"}.`
      : `The figure is an upper bound: one token for each byte of the messages. The count took more than ${COUNTED_WITHIN_MS / 1000} seconds. Try again later, or shorten the messages.`,
  );
}

const because = ({ refusal, ...refused }: Refused, why: string): Refused => ({
  ...refused,
  refusal: new Refusal(refusal.code, `${refusal.message} ${why}`, {
    param: refusal.param,
    type: refusal.type,
    retry: refusal.retry,
    ...(refusal.details && { details: refusal.details }),
  }),
});
