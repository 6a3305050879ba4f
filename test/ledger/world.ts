// A ledger under test with the shorthand that money tables need: organizations, keys, admissions, settlements.
import { byItself } from "../../src/domain/actor.ts";
import { NO_CAPABILITIES } from "../../src/domain/capabilities.ts";
import { nanoUsd, type NanoUsd, ZERO_USD } from "../../src/domain/money.ts";
import { exactPrice, type PublishedPrice } from "../../src/domain/price.ts";
import { Refusal } from "../../src/domain/refusals.ts";
import type { Manifest, Release } from "../../src/domain/release.ts";
import type { AdmissionDecision, AdmissionRequest, Ledger, ResolveOutcome } from "../../src/ledger/ledger.ts";
import type { AttemptRecord, TokenUsage } from "../../src/ledger/records.ts";
import { mintKey } from "../../src/registry/secret.ts";
import { newId, newRequestId } from "../../src/lib/id.ts";
import type { TestClock } from "../support/clock.ts";
import { createKey } from "../../src/registry/api-keys.ts";
import { createOrganization } from "../../src/registry/organizations.ts";
import { publishRelease } from "../../src/registry/releases.ts";

/** The beginning of a stored stream of chat completions. */
export const BEGUN = 'id: 1\ndata: {"id":"chatcmpl-1"}\n\n';

export interface Opened {
  ledger: Ledger;
  /** A process that dies and comes back: nothing is closed or flushed. */
  crash(): Promise<Ledger>;
  close(): Promise<void>;
}

/** One kind of store: opens a new ledger in an empty place. */
export type OpenLedger = (clock: TestClock) => Promise<Opened>;

/** The settings of a test's key; dollars. */
export interface KeyWish {
  limit?: number;
  day?: number;
  week?: number;
  scope?: "standard" | "research";
  models?: string[];
  output?: number;
  expiresAtMs?: number;
}

export interface KeyInHand {
  organizationId: string;
  keyId: string;
  digest: Uint8Array;
}

const usd = (amount: number): NanoUsd => nanoUsd(BigInt(Math.round(amount * 1e9)));

/** Half a dollar's tokens, some of them of classes that `PRICE` has no rates for. */
export const CLASSED: TokenUsage = {
  promptTokens: 50,
  completionTokens: 0,
  cachedTokens: 7,
  reasoningTokens: null,
  cacheWriteTokens: 8,
};

/** Two dollars' tokens, with a prompt within the bound of a lowered hold. */
export const OF_LOWERED: TokenUsage = {
  promptTokens: 100,
  completionTokens: 100,
  cachedTokens: null,
  reasoningTokens: null,
};

/** One token costs 0.01 dollars, so that tables read in dollars. */
export const PRICE: PublishedPrice = {
  input_per_million: "10000",
  output_per_million: "10000",
  request_minimum: "0",
};

export function releaseOf(fields: Partial<Release> = {}): Release {
  const model = fields.model ?? "m";
  const route = fields.route ?? `${model}@p/r`;
  const release: Omit<Release, "digest"> = {
    route,
    version: 1,
    model,
    provider: "p",
    upstreamModel: "u",
    region: "r",
    tier: "standard",
    requiresPaid: false,
    contextWindow: 1000,
    maxOutputTokens: 100,
    defaultOutputTokens: 100,
    price: exactPrice(PRICE),
    publishedPrice: PRICE,
    reasoning: null,
    tokenizer: "bytes",
    capabilities: NO_CAPABILITIES,
    imageTokensMax: null,
    fileTokensMax: null,
    filePagesMax: null,
    remoteImages: false,
    defaults: {},
    priority: 1,
    weight: 100,
    issuedAtMs: 0,
    expiresAtMs: Date.parse("2100-01-01"),
    signedBy: "test",
    ...fields,
  };
  return { ...release, digest: new Bun.CryptoHasher("sha256").update(jwsOf(release)).digest("hex") };
}

/** As `release sign` would print it, without a signature: a release is verified before it is stored. */
export function jwsOf(release: Omit<Release, "digest">): string {
  const { route, version, signedBy, issuedAtMs, expiresAtMs } = release;
  const manifest: Manifest = {
    model: release.model,
    provider: release.provider,
    upstream_model: release.upstreamModel,
    region: release.region,
    route,
    version,
    tier: release.tier,
    requires_paid: release.requiresPaid,
    context_window: release.contextWindow,
    max_output_tokens: release.maxOutputTokens,
    default_output_tokens: release.defaultOutputTokens,
    pricing: { currency: "USD", ...release.publishedPrice },
    tokenizer: release.tokenizer,
    capabilities: release.capabilities,
    remote_images: release.remoteImages,
    defaults: release.defaults,
    priority: release.priority,
    weight: release.weight,
  };
  const claims = {
    sub: route,
    ver: version,
    iat: issuedAtMs / 1000,
    exp: expiresAtMs / 1000,
    release: manifest,
  };
  const parts = [{ alg: "EdDSA", typ: "gw-release+jwt", kid: signedBy }, claims];
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")), ""].join(".");
}

export class World {
  /** By request: the release it was made with. */
  private readonly releases = new Map<string, Release>();

  constructor(public ledger: Ledger) {}

  async organization(dollars: number, kind: "purchase" | "grant" = "purchase"): Promise<string> {
    const { id } = await createOrganization(
      this.ledger,
      { id: newId("org"), name: "test" },
      byItself("test"),
    );
    if (dollars > 0) await this.topUp(id, dollars, { kind });
    return id;
  }

  topUp(
    organizationId: string,
    dollars: number,
    also: { kind?: "purchase" | "grant"; externalId?: string } = {},
  ): ReturnType<Ledger["topUp"]> {
    const { kind = "purchase", externalId = crypto.randomUUID() } = also;
    return this.ledger.topUp(
      { organizationId, amount: usd(dollars), kind, source: "test", externalId },
      byItself("test"),
    );
  }

  /** A chargeback of a payment, or the refund of a request. */
  reverse(
    organizationId: string,
    terms: { dollars: number; kind: "chargeback" | "refund"; target: string; externalId?: string },
  ): ReturnType<Ledger["reverse"]> {
    const { dollars, kind, target, externalId = crypto.randomUUID() } = terms;
    return this.ledger.reverse(
      { organizationId, amount: usd(dollars), kind, target, source: "test", externalId },
      byItself("test"),
    );
  }

  async key(organizationId: string, terms: KeyWish = {}): Promise<KeyInHand> {
    const keyId = newId("key");
    const { value: _, ...minted } = mintKey({ organizationId, keyId });
    const { limit, day, week, scope = "standard", models, output, expiresAtMs } = terms;
    await createKey(
      this.ledger,
      {
        id: keyId,
        organizationId,
        name: "test",
        ...minted,
        scope,
        limit: limit === undefined ? null : usd(limit),
        dayLimit: day === undefined ? null : usd(day),
        weekLimit: week === undefined ? null : usd(week),
        allowedModels: models ?? null,
        maxOutputTokens: output ?? null,
        expiresAtMs: expiresAtMs ?? null,
      },
      byItself("test"),
    );
    return { organizationId, keyId, digest: minted.digest };
  }

  publish(fields: Partial<Release> = {}): ReturnType<typeof publishRelease> {
    const release = releaseOf(fields);
    return publishRelease(this.ledger, { release, jws: jwsOf(release) }, byItself("test"));
  }

  admission(
    key: KeyInHand,
    terms: {
      hold: number;
      idempotencyKey?: string;
      body?: string;
      release?: Release;
      /** Requests of the same organization, and their new holds. */
      lower?: { id: string; to: number }[];
      /** Of one choice, at most. */
      output?: number;
    },
  ): AdmissionRequest {
    const { hold, idempotencyKey, body = "body", release = releaseOf(), lower = [], output = 100 } = terms;
    const { route, version, digest, expiresAtMs, model, tier, requiresPaid } = release;
    const fingerprint = (): Uint8Array => new Bun.CryptoHasher("sha256").update(body).digest();
    const requestId = newRequestId(Date.now());
    this.releases.set(requestId, release);
    return {
      requestId,
      credential: key,
      claim: idempotencyKey === undefined ? null : { idempotencyKey, fingerprint: fingerprint() },
      asked: {
        kind: "plan",
        plan: {
          model,
          tier,
          requiresPaid,
          routes: [{ route, version, digest, expiresAtMs }],
          hold: usd(hold),
          promptBound: 1_000_000,
          outputBound: 1_000_000,
          outputCeiling: output,
          stream: false,
          surface: "chat.completions",
          timeoutMs: 60_000,
        },
      },
      lowerings: lower.map(({ id, to }) => ({
        organizationId: key.organizationId,
        requestId: id,
        hold: usd(to),
        promptBound: 100,
      })),
    };
  }

  /** Admits; returns the request id, or the code of the refusal. */
  async admit(
    key: KeyInHand,
    terms: Parameters<World["admission"]>[1],
  ): Promise<{ id: string; says: string; outcome: AdmissionDecision }> {
    const admission = this.admission(key, terms);
    const outcome = await this.ledger.admit(admission);
    return {
      id: admission.requestId,
      says: outcome.kind === "refused" ? outcome.refusal.code : outcome.kind,
      outcome,
    };
  }

  /** Settles for whole cents: one token costs a cent. `answer` is stored under the request's key. */
  settle(
    key: KeyInHand,
    requestId: string,
    terms: {
      dollars: number;
      answer?: string;
      release?: Release;
      lowered?: number;
      /** Default: as many plain tokens as needed. */
      usage?: TokenUsage;
    },
  ): Promise<ResolveOutcome> {
    const { dollars, answer, release = this.releases.get(requestId) ?? releaseOf(), lowered } = terms;
    return this.ledger.settle({
      ...(lowered !== undefined && { lowered: { hold: usd(lowered), promptBound: 100 } }),
      organizationId: key.organizationId,
      requestId,
      releaseDigest: release.digest,
      evidence: "provider_usage",
      usage: terms.usage ?? {
        promptTokens: Math.round(dollars * 100),
        completionTokens: 0,
        cachedTokens: null,
        reasoningTokens: null,
      },
      charge: usd(dollars),
      variance: ZERO_USD,
      minimumApplied: false,
      finishReason: "stop",
      status: 200,
      attempts: [],
      firstPartMs: 1,
      totalMs: 2,
      answer:
        answer === undefined
          ? null
          : {
              requestId,
              status: 200,
              headers: { "content-type": "application/json" },
              body: Buffer.from(JSON.stringify({ answer, cost: { customer_charge_usd: dollars } })),
            },
    });
  }

  /** Records that a stream has delivered `tokens` after a prompt of one; `sent` is stored under the request's key. */
  checkpoint(
    key: KeyInHand,
    requestId: string,
    terms: {
      tokens: number;
      sent?: { seq: number; text: string };
      release?: Release;
      attempts?: AttemptRecord[];
    },
  ): ReturnType<Ledger["checkpoint"]> {
    const { tokens, sent, release = releaseOf(), attempts = [] } = terms;
    return this.ledger.checkpoint({
      organizationId: key.organizationId,
      requestId,
      releaseDigest: release.digest,
      promptTokens: 1,
      deliveredTokens: tokens,
      attempts,
      chunk: sent === undefined ? null : { seq: sent.seq, bytes: Buffer.from(sent.text) },
    });
  }

  void(key: KeyInHand, requestId: string, freeClaim: boolean): Promise<ResolveOutcome> {
    return this.ledger.void({
      organizationId: key.organizationId,
      requestId,
      status: 502,
      errorCode: "provider_error",
      attempts: [],
      totalMs: 1,
      freeClaim,
      answer: null,
    });
  }

  /** What is owed, in dollars. */
  async debt(organizationId: string): Promise<string> {
    return dollars((await this.ledger.balance(organizationId))?.debt ?? ZERO_USD);
  }

  /** `available held` in dollars. */
  async balance(organizationId: string): Promise<string> {
    const balance = await this.ledger.balance(organizationId);
    return balance === null ? "none" : `${dollars(balance.available)} ${dollars(balance.held)}`;
  }
}

const dollars = (amount: NanoUsd): string => (Number(amount) / 1e9).toFixed(2);

/** The result of a key check: `good`, or the code that refuses it. */
export const saysOf = (looked: Awaited<ReturnType<Ledger["checkKey"]>>): string =>
  looked instanceof Refusal ? looked.code : "good";
