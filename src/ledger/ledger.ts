// Who owns what money: the single interface of both stores (money.md). A method that changes something resolves when the
// change is durable; operations of one turn of the event loop share a transaction. Rules live in `decide`, not in a store.
import type { Actor } from "../domain/actor.ts";
import type { CallerIds, Credential } from "../domain/credential.ts";
import type { Evidence, Tier } from "../domain/gateway-object.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { RateSubject } from "../domain/rate-limits.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Query } from "../store/sql.ts";
import type { LedgerPulse } from "./commit/pulse.ts";
import type { AttemptRecord, VerificationReport, BalanceRecord, TokenUsage } from "./records.ts";

// ── The money path ──────────────────────────────────────────────────────────────────────────────────────────────

/** A caller's idempotency key and its fingerprint: the same key with another fingerprint is refused (money.md §8). */
export interface Claim {
  idempotencyKey: string;
  /** SHA-256 of the canonical request, 32 bytes; compared in constant time. */
  fingerprint: Uint8Array;
}

/** The priced request, frozen, if nothing earlier in code refused it. */
export interface AdmissionPlan {
  model: string;
  tier: Tier;
  requiresPaid: boolean;
  /** Candidates in the order in which they are tried; COMMIT 1 drops those that closed meanwhile. */
  routes: readonly { route: string; version: number; digest: string; expiresAtMs: number }[];
  hold: NanoUsd;
  promptBound: number;
  /** Whether an exact count of the prompt may need fewer tokens than `promptBound`; default: no. */
  bounded?: boolean;
  /** Whether to refuse with `count` before the bound reserves much of a token limit; default: no. */
  countFirst?: boolean;
  /** O × n: the output maximum of all choices. */
  outputBound: number;
  /** O of wire.md §1: the output maximum of one choice. */
  outputCeiling: number;
  stream: boolean;
  /** The name of the format (`domain/surfaces.ts`). */
  surface: string;
  /** The longest that the request may run, from admission. */
  timeoutMs: number;
}

export interface AdmissionRequest {
  requestId: string;
  credential: Credential;
  /** Set only if the caller sent an idempotency key. */
  claim: Claim | null;
  /**
   * A plan, or the refusal met earlier in code, carried to its place in the order of money.md §7:
   * `shape` comes before the claim lookup, `route` after it.
   */
  asked:
    | { kind: "plan"; plan: AdmissionPlan }
    | { kind: "refusal"; stage: "shape" | "route"; refusal: Refusal };
  /** Holds of the same organization to lower in the same commit, before credits and limits are decided. */
  lowerings?: readonly Lowering[];
  /** Called with the length of a kept answer before it is read; a refusal is returned in its place. */
  roomFor?(bytes: number): Refusal | null;
}

/** A running request whose prompt was counted: the most that it may still cost, and for how many prompt tokens. */
export interface Lowering {
  organizationId: string;
  requestId: string;
  /** Below the current hold; no later charge exceeds it. */
  hold: NanoUsd;
  promptBound: number;
}

/** The key's terms that affect routing and pricing. */
export interface KeyTerms {
  scope: Tier;
  /** Null means the model's own maximum. */
  maxOutputTokens: number | null;
}

/** Figures right after this admission, for the headroom headers. */
export interface Headroom {
  available: NanoUsd;
  keyLimitRemaining: NanoUsd | null;
}

/** An answer kept for a caller's key, as exact bytes. */
export interface StoredAnswer {
  requestId: string;
  status: number;
  headers: Record<string, string>;
  body: Uint8Array;
}

export type AdmissionDecision =
  | {
      kind: "admitted";
      admittedAtMs: number;
      openRoutes: string[];
      researchMode: boolean;
      headroom: Headroom;
      rates: readonly RateStanding[];
    }
  | { kind: "replay"; answer: StoredAnswer }
  /** The first request under this claim is still running. */
  | { kind: "running"; requestId: string }
  /** `authenticated` is false for 401: the response then says nothing about the organization. `short`: money was the reason. */
  | {
      kind: "refused";
      refusal: Refusal;
      authenticated: boolean;
      short?: Shortage;
      rates?: readonly RateStanding[];
      /** The key's output maximum, if the plan's is higher: the request must be priced for this one. */
      outputAtMost?: number;
      /** Nothing refuses: the request is to be asked for again, with its prompt counted (`countFirst`). */
      count?: true;
    };

/** A limit per minute right after a decision. Concurrency limits are left out, because they have no reset time. */
export interface RateStanding {
  subject: RateSubject;
  of: "requests" | "tokens";
  limit: number;
  remaining: number;
  /** Time until the whole limit is free again. */
  resetMs: number;
}

/** A limit that currently blocks every request of a key, and what is left of the limits per minute. */
export interface RateRefusal {
  refusal: Refusal;
  rates: readonly RateStanding[];
}

/** Why an admission was refused for money, with the figures of the decision. */
export type Shortage =
  | { of: "credits"; required: NanoUsd; available: NanoUsd; held: NanoUsd; debt: NanoUsd }
  /** `missing`: the amount by which the day, week or month is above the key's limit; at the limit is refused, below it is not. */
  | { of: "key_limit"; missing: NanoUsd }
  /** Token limits, and nothing else: each of them leaves fewer than the `tokens` that the request may use. */
  | { of: "tokens_per_minute"; tokens: number; limits: readonly TokensLeft[] };

/** What a token limit leaves now. */
export interface TokensLeft {
  subject: RateSubject;
  /** Of a whole minute. */
  limit: number;
  remaining: number;
}

/** COMMIT 2 of a request that costs something, or that ended with an answer at no cost (evidence `none`). */
export interface Settlement {
  organizationId: string;
  requestId: string;
  releaseDigest: string;
  evidence: Evidence;
  usage: TokenUsage;
  /** 0 ≤ charge ≤ hold. */
  charge: NanoUsd;
  /** The computed price above the charge; the platform pays it. */
  variance: NanoUsd;
  minimumApplied: boolean;
  finishReason: string | null;
  status: number;
  attempts: AttemptRecord[];
  firstPartMs: number | null;
  totalMs: number;
  /** Kept under the caller's key; null for requests without one. */
  answer: StoredAnswer | null;
  /** The hold it was priced with, if that was lowered while it ran. The settlement lowers it if that commit did not happen. */
  lowered?: Pick<Lowering, "hold" | "promptBound">;
}

/** Returns the whole hold; the request ends `released`. */
export interface Voiding {
  organizationId: string;
  requestId: string;
  status: number;
  errorCode: string;
  attempts: AttemptRecord[];
  totalMs: number;
  /** True with proof of non-execution: the idempotency key becomes free again. Otherwise `answer` is kept under it. */
  freeClaim: boolean;
  answer: StoredAnswer | null;
}

/**
 * A running stream's progress, for which it is settled if its owner dies (money.md §3 `mid_stream`,
 * §4). Counts only tokens that the client's stream has accepted, never more.
 */
export interface Checkpoint {
  organizationId: string;
  requestId: string;
  /** The release of the route that serves it. */
  releaseDigest: string;
  promptTokens: number;
  deliveredTokens: number;
  attempts: AttemptRecord[];
  /** For a caller's key: the exact bytes sent since the previous chunk; `seq` counts from 0 without gaps. */
  chunk: { seq: number; bytes: Uint8Array } | null;
}

/** `lost`: the request has ended, or belongs to another owner. */
export type CheckpointOutcome = { kind: "kept" } | { kind: "lost" };

/** `lost`: somebody else resolved the request first (0 rows hit); nothing was changed. */
export type ResolveOutcome = { kind: "done"; balance: NanoUsd } | { kind: "lost" };

export type TopUpOutcome =
  | { kind: "credited"; balance: NanoUsd }
  /** The same reference was credited before, with the same amount: nothing changed. */
  | { kind: "repeated"; balance: NanoUsd }
  | { kind: "conflict" }
  | { kind: "unknown_organization" };

export type ReversalOutcome =
  | { kind: "reversed"; balance: NanoUsd; debt: NanoUsd }
  /** The same reference was reversed before, with the same amount and target: nothing changed. */
  | { kind: "repeated"; balance: NanoUsd; debt: NanoUsd }
  | { kind: "conflict" }
  /** More than the request cost, less earlier refunds; or more than the organization ever paid in. */
  | { kind: "exceeds"; atMost: NanoUsd }
  | { kind: "unknown_request" }
  | { kind: "unknown_organization" };

/** An operator's end of a request in quarantine. */
export interface EndingByHand {
  organizationId: string;
  requestId: string;
  /** 0 ≤ charge ≤ hold; null releases the whole hold. */
  charge: NanoUsd | null;
  /** For the audit log. */
  reason: string;
}

export type EndedByHand =
  | { kind: "ended"; charge: NanoUsd; balance: NanoUsd }
  | { kind: "exceeds"; atMost: NanoUsd }
  /** Not in quarantine, or no longer. */
  | { kind: "unknown_request" };

export type ResumeOutcome =
  | { kind: "resumed" }
  /** Its paid calls are not refused, or no longer. */
  | { kind: "not_stopped" }
  /** A figure of the balance that must be repaired first, with its expected and actual value. */
  | { kind: "broken"; what: string; expected: string; found: string };

// ── The interface ───────────────────────────────────────────────────────────────────────────────────────────────

export interface Ledger {
  /** COMMIT 1. Never throws for policy; throws `Refusal("overloaded")` if the queue is full or the store is down. */
  admit(admission: AdmissionRequest): Promise<AdmissionDecision>;
  /** COMMIT 2. Retries forever on store errors; the hold stays until it succeeds. */
  settle(settlement: Settlement): Promise<ResolveOutcome>;
  void(voiding: Voiding): Promise<ResolveOutcome>;
  /** Joins the next batch. Throws `Refusal("overloaded")` while the store takes no writes: the stream continues. */
  checkpoint(checkpoint: Checkpoint): Promise<CheckpointOutcome>;

  /**
   * Returns what is wrong with this key as of now, a 401, or the terms that its requests are priced
   * for. One indexed read, never cached, before anything of the request is taken, read or parsed;
   * COMMIT 1 reads the key again. Throws `Refusal("overloaded")` while the store takes nothing.
   */
  checkKey(credential: Credential): Refusal | KeyTerms | Promise<Refusal | KeyTerms>;
  /**
   * Returns the request limit that currently blocks every request of this caller, whatever it asks for; null if there
   * may be room. Checked before the body is read; a request with an idempotency key may still get its stored answer.
   */
  rateRefusal(caller: CallerIds): Promise<RateRefusal | null>;
  /** Returns what `admit` would decide now for this plan, without writing. Used by the quote endpoint. */
  preview(admission: AdmissionRequest): Promise<AdmissionDecision>;

  balance(organizationId: string): Promise<BalanceRecord | null>;
  /** Idempotent by (source, externalId): the second call is a no-op that returns the first result. */
  topUp(
    topUp: {
      organizationId: string;
      amount: NanoUsd;
      kind: "purchase" | "grant";
      source: string;
      externalId: string;
      /** The operator's reason, written as a separate line of the audit log. */
      reason?: string | undefined;
    },
    actor: Actor,
  ): Promise<TopUpOutcome>;
  /**
   * Reverses money, idempotent like `topUp`: a chargeback of a payment (what the balance does not
   * cover becomes debt), or the refund of a settled request. `target` names that payment or request.
   */
  reverse(
    reversal: {
      organizationId: string;
      amount: NanoUsd;
      kind: "chargeback" | "refund";
      target: string;
      source: string;
      externalId: string;
      /** As in `topUp`. */
      reason?: string | undefined;
    },
    actor: Actor,
  ): Promise<ReversalOutcome>;

  /** Ends a request in quarantine, as an operator decided. */
  endByHand(ending: EndingByHand, actor: Actor): Promise<EndedByHand>;

  /** Runs `work` and returns its result. Each statement reads the current state, alongside ongoing writes. */
  read<T>(work: Work<T>): Promise<T>;
  /**
   * Changes what admissions are decided on, called by its owner (`src/registry`). Applies all of it or
   * nothing, in one order with every admission and settlement of the organizations that it locks. `work` may
   * run more than once, so it must do nothing but run queries. `of` is null if it locks no organization.
   * Throws `Refusal("overloaded")` while the store takes no writes, or after waiting too long.
   */
  change<T>(of: Changing | null, work: Work<T>): Promise<T>;

  /** Checks the invariants of money.md §5 in one snapshot, on its own reader, while traffic runs. */
  verify(): Promise<VerificationReport>;
  /**
   * Checks the books now, for these organizations from their first entry. Stops organizations whose books do
   * not add up and resumes those whose books hold again (money.md §5). This also runs every minute by itself.
   */
  checkBooks(suspects: readonly string[]): Promise<void>;
  /** Resumes a stopped organization, as an operator decided. */
  resume(of: { organizationId: string; reason: string }, actor: Actor): Promise<ResumeOutcome>;
  /**
   * True if the store takes writes; used by `/readyz`. A store that refused writes, because it was full or read-only,
   * must first accept one, or refuse none for two seconds.
   */
  ready(): boolean;
  /** Returns why the store takes no writes, for the log; empty while it does. */
  trouble(): string;
  /**
   * True if this gateway does the work that only one of them needs to do: the one running longest, by the database's
   * clock. Only for work that two gateways may safely do at the same time: the leader may change at any moment.
   */
  leads(): Promise<boolean>;
  /** Returns how fast the store takes writes, from the last commits of this process. */
  pulse(): LedgerPulse;
  /** Finishes what is queued, then closes the store. */
  close(): Promise<void>;
}

/** The statements of one transaction. `nowMs` is the clock that rows are stamped by, read when it begins. */
export type Work<T> = (nowMs: number) => Query<T>;

/** Whose records are changed, and by whom. Changes of one organization run one after the other; persons take turns. */
export interface Changing {
  organizationId: string;
  by: string;
}

/** Reads records. */
export type Reader = Pick<Ledger, "read">;
/** Reads and changes the records other than money. */
export type Transactions = Pick<Ledger, "read" | "change">;
