// POST /v1/messages/count_tokens and /v1/responses/input_tokens: how many tokens a prompt has, free of charge (surfaces.md §4).
// Agents shorten what they send by it, so it is never too low: the provider's own count if the first route has one; ours if its
// tokenizer is one of ours; otherwise the bound that would be held for. Holds and writes nothing.
import { MINUTE_MS } from "../domain/durations.ts";
import type { Credential } from "../domain/credential.ts";
import { ReceivedBody } from "../domain/received-body.ts";
import { Refusal, type RefusalCode } from "../domain/refusals.ts";
import type { Concurrency } from "../limits/concurrency.ts";
import { Shares } from "../limits/shares.ts";
import { Windows } from "../limits/window.ts";
import type { Clock } from "../lib/clock.ts";
import type { KeyTerms } from "../ledger/ledger.ts";
import { promptBound } from "../pricing/quote.ts";
import { promptTokensWithin } from "../pricing/tokens.ts";
import { Failure } from "../providers/failure.ts";
import { authenticateKey } from "../registry/api-keys.ts";
import { credentialOf } from "./credential.ts";
import type { Candidate } from "./hold.ts";
import type { Incoming } from "./incoming.ts";
import { type PreviewPorts, withoutTrials } from "./preview.ts";
import { admissionRequestOf } from "./admission-request.ts";
import { prepareRequest } from "./prepared-request.ts";
import { withPromptRoom } from "./prompt-room.ts";

export interface CountTokensPorts extends PreviewPorts {
  limits: Pick<Concurrency, "refusal">;
  clock: Pick<Clock, "monotonicMs">;
}

/** Concurrent counts, per organization and in total. They share nothing with paid calls. */
const AT_ONCE = { organization: 4, all: 64 };
/**
 * A provider limits counts by account, so no organization may use up those of the others. Beyond this limit our own count is
 * returned.
 */
const ASKED_PER_MINUTE = 60;
const ORGANIZATIONS_KEPT = 10_000;
const PROVIDER_MS = 5000;
const OWN_COUNT_MS = 5000;

const tooMany = (whose: string): Refusal =>
  new Refusal(
    whose === "The gateway" ? "overloaded" : "rate_limit_exceeded",
    `${whose} has reached its limit of prompts being counted at the same time. Retry shortly.`,
    { retryAfterMs: 1000 },
  );

/** Refusals of a call that do not prevent its prompt from being counted. */
const COUNTED_ALL_THE_SAME: ReadonlySet<RefusalCode> = new Set([
  "insufficient_credits",
  "key_spend_limit_reached",
  "context_length_exceeded",
]);

/** Counts prompts for callers with a valid key, within limits of its own: concurrent to paid calls, never before them. */
export class PromptCounts {
  private readonly atOnce = new Shares();
  private readonly asked = new Windows({
    most: ASKED_PER_MINUTE,
    windowMs: MINUTE_MS,
    kept: ORGANIZATIONS_KEPT,
  });

  constructor(private readonly ports: CountTokensPorts) {}

  /** Throws `Refusal` for whatever the call itself would be refused for before it is priced. */
  async count(incoming: Incoming): Promise<number> {
    const { ports } = this;
    const credential = credentialOf(incoming.authorization);
    incoming.checkBody();
    const known = await authenticateKey(ports.ledger, credential);
    if (known.kind === "refused") throw known.refusal;
    const refusal = ports.limits.refusal(credential);
    if (refusal !== null) throw refusal;
    const shares = [
      { of: credential.organizationId, most: AT_ONCE.organization, whose: "This organization" },
      { of: "all", most: AT_ONCE.all, whose: "The gateway" },
    ];
    const passed = this.atOnce.passed(shares);
    if (passed !== null) throw tooMany(passed.whose);
    const slot = this.atOnce.take(shares);
    try {
      return await this.counted(incoming, { credential, terms: known.key });
    } finally {
      slot.done();
    }
  }

  private async counted(
    incoming: Incoming,
    { credential, terms }: { credential: Credential; terms: KeyTerms },
  ): Promise<number> {
    const { organizationId } = credential;
    const body = new ReceivedBody(await incoming.readBody(organizationId));
    const asked = { credential, terms, body };
    const prompt = { organizationId, body, signal: incoming.signal };
    return await withPromptRoom(this.ports, prompt, () => this.read(incoming, asked));
  }

  private async read(
    incoming: Incoming,
    { credential, terms, body }: { credential: Credential; terms: KeyTerms; body: ReceivedBody },
  ): Promise<number> {
    const { routeTable, ledger, ...others } = this.ports;
    const { organizationId } = credential;
    const ports = { ...others, routeTable: withoutTrials(routeTable) };
    const prepared = await prepareRequest(ports, incoming, { organizationId, terms, body });
    const { requestId } = incoming;
    const outcome = await ledger.preview(admissionRequestOf(ports, prepared, { requestId, credential }));
    const paid = outcome.kind !== "refused";
    if (!paid && outcome.short === undefined && !COUNTED_ALL_THE_SAME.has(outcome.refusal.code))
      throw outcome.refusal;
    const [first] = prepared.candidates;
    if (first === undefined) throw new Error("counted without a route");
    return await this.tokensOf(first, { incoming, organizationId, paid });
  }

  private async tokensOf(
    { release, body }: Candidate,
    {
      incoming: { requestId, signal },
      organizationId,
      paid,
    }: { incoming: Incoming; organizationId: string; paid: boolean },
  ): Promise<number> {
    const bound = promptBound(body.size, release);
    const provider = this.ports.providers.get(release.provider);
    if (body.counted === undefined) {
      const limits = { organizationId, lane: "admission", deadlineMs: OWN_COUNT_MS, signal } as const;
      const count = await promptTokensWithin(body, release, limits);
      return count.kind === "exact" ? count.tokens : bound;
    }
    if (provider?.countTokens === undefined || !paid) return bound; // its tokenizer is not known here
    if (!this.asked.count(organizationId, this.ports.clock.monotonicMs()).fits) return bound;
    const { upstreamModel } = release;
    const call = { requestId, upstreamModel, body, signal, withinMs: PROVIDER_MS };
    const told = await provider.countTokens(call).catch((error: unknown) => {
      if (error instanceof Failure) return bound;
      throw error;
    });
    return Math.min(told, bound);
  }
}
