// Who owns what money: the one interface of both stores (money.md). Every method that changes something is durable
// when its promise resolves; operations of one turn of the event loop share a transaction. Rules live in `decide`, not in a store.
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

/** A caller's idempotency key with what it stands for: with another fingerprint the same key is refused (money.md §8). */
export interface Claim {
  idempotencyKey: string;
  /** SHA-256 of the canonical request, 32 bytes; compared in constant time. */
  fingerprint: Uint8Array;
}

/** What is asked for once nothing earlier in code refused: the priced request, frozen. */
export interface AdmissionPlan {
  model: string;
  tier: Tier;
  requiresPaid: boolean;
  /** Candidates in the order of trial; COMMIT 1 drops those that closed meanwhile. */
  routes: readonly { route: string; version: number; digest: string; expiresAtMs: number }[];
  hold: NanoUsd;
  promptBound: number;
  /** Output ceiling × n. */
  outputBound: number;
  /** Of one choice. */
  outputMaximum: number;
  stream: boolean;
  /** As its format is called (`domain/surfaces.ts`). */
  surface: string;
  /** How long the request may run, from admission. */
  timeoutMs: number;
}

export interface AdmissionRequest {
  requestId: string;
  credential: Credential;
  /** Only for keys that callers sent. */
  claim: Claim | null;
  /**
   * A plan, or the refusal met earlier in code, carried to its place in the order of money.md §7:
   * `shape` stands before the claim look-up, `route` after it.
   */
  asked:
    | { kind: "plan"; plan: AdmissionPlan }
    | { kind: "refusal"; stage: "shape" | "route"; refusal: Refusal };
  /** Holds of the same organization that are lowered in the same commit, before it is decided on credits and limit. */
  lowerings?: readonly Lowering[];
  /** Asked before a kept answer is read, by its length: a refusal is told in its place. */
  roomFor?(bytes: number): Refusal | null;
}

/** A running request whose prompt was counted: what it may still cost at most, and for how many prompt tokens. */
export interface Lowering {
  organizationId: string;
  requestId: string;
  /** Below what it holds; no charge is ever above it from then on. */
  hold: NanoUsd;
  promptBound: number;
}

/** What a request is routed and priced for by its key. */
export interface KeyTerms {
  scope: Tier;
  /** Null: what the model puts out. */
  maxOutputTokens: number | null;
}

/** Figures right after this admission, for the headroom headers. */
export interface Headroom {
  available: NanoUsd;
  keyLimitRemaining: NanoUsd | null;
}

/** An answer kept for a caller's key: exact bytes. */
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
  /** The first request under this claim still runs. */
  | { kind: "running"; requestId: string }
  /** `authenticated` is false for 401: nothing about the organization may be said then. `short`: where money refused. */
  | {
      kind: "refused";
      refusal: Refusal;
      authenticated: boolean;
      short?: Shortage;
      rates?: readonly RateStanding[];
      /** What its key puts out at most, where the plan has more: it is to be priced for that. */
      outputAtMost?: number;
    };

/** A limit per minute right after a decision; those at once say nothing of when. */
export interface RateStanding {
  subject: RateSubject;
  of: "requests" | "tokens";
  limit: number;
  remaining: number;
  /** Until all of it is free again. */
  resetMs: number;
}

/** A limit that no request of a key gets past now, and what is left of those per minute. */
export interface RateRefusal {
  refusal: Refusal;
  rates: readonly RateStanding[];
}

/** What money refused an admission with, as the decision found it. */
export type Shortage =
  | { of: "credits"; required: NanoUsd; available: NanoUsd; held: NanoUsd; debt: NanoUsd }
  /** `missing`: how far the day, week or month is above the key's limit; at the limit is refused, below it is not. */
  | { of: "key_limit"; missing: NanoUsd }
  /** More tokens than a whole minute of a limit: `atMost`. */
  | { of: "tokens_per_minute"; atMost: number };

/** COMMIT 2 of a request that costs something, or that ended with an answer at no cost (evidence `none`). */
export interface Settlement {
  organizationId: string;
  requestId: string;
  releaseDigest: string;
  evidence: Evidence;
  usage: TokenUsage;
  /** 0 ≤ charge ≤ hold. */
  charge: NanoUsd;
  /** Computed price above the charge; the platform pays it. */
  variance: NanoUsd;
  minimumApplied: boolean;
  finishReason: string | null;
  status: number;
  attempts: AttemptRecord[];
  firstPartMs: number | null;
  totalMs: number;
  /** Kept under the caller's key; null for requests without one. */
  answer: StoredAnswer | null;
  /** What it was priced with, where its hold was lowered while it ran: done here if that commit did not come about. */
  lowered?: Pick<Lowering, "hold" | "promptBound">;
}

/** The whole hold goes back; the request ends `released`. */
export interface Voiding {
  organizationId: string;
  requestId: string;
  status: number;
  errorCode: string;
  attempts: AttemptRecord[];
  totalMs: number;
  /** True with proof of non-execution: the idempotency key is free again. Otherwise `answer` is kept under it. */
  freeClaim: boolean;
  answer: StoredAnswer | null;
}

/**
 * How far a running stream has got: what it is settled for, should its owner die (money.md §3 `mid_stream`, §4).
 * Tokens are those that the client's stream has accepted, never more.
 */
export interface Checkpoint {
  organizationId: string;
  requestId: string;
  /** Of the route that serves it. */
  releaseDigest: string;
  promptTokens: number;
  deliveredTokens: number;
  attempts: AttemptRecord[];
  /** For a caller's key: the exact bytes sent since the chunk before; `seq` counts from 0 without a gap. */
  chunk: { seq: number; bytes: Uint8Array } | null;
}

/** `lost`: the request has ended, or is not ours. */
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

/** How an operator ends a request in quarantine. */
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
  /** Not in quarantine (any more). */
  | { kind: "unknown_request" };

export type ResumeOutcome =
  | { kind: "resumed" }
  /** Its paid calls are not refused (any more). */
  | { kind: "not_stopped" }
  /** What has to be mended first: a figure of its balance, as it should be and as it is. */
  | { kind: "broken"; what: string; expected: string; found: string };

// ── The interface ───────────────────────────────────────────────────────────────────────────────────────────────

export interface Ledger {
  /** COMMIT 1. Never throws for policy; throws `Refusal("overloaded")` when the queue is full or the store is down. */
  admit(admission: AdmissionRequest): Promise<AdmissionDecision>;
  /** COMMIT 2. Retries for ever on store errors; the hold stays until it succeeds. */
  settle(settlement: Settlement): Promise<ResolveOutcome>;
  void(voiding: Voiding): Promise<ResolveOutcome>;
  /** Goes with the next batch. Throws `Refusal("overloaded")` while the store takes no writes: the stream goes on. */
  checkpoint(checkpoint: Checkpoint): Promise<CheckpointOutcome>;

  /**
   * What is wrong with this key as of now, a 401, or what its requests are priced for. One indexed read, never
   * cached, before anything of its request is taken, read or parsed; what it lets through COMMIT 1 reads again. Throws
   * `Refusal("overloaded")` while the store takes nothing.
   */
  checkKey(credential: Credential): Refusal | KeyTerms | Promise<Refusal | KeyTerms>;
  /**
   * The limit of requests that keeps every request of this caller out as of now, whatever it asks for; null where there may
   * be room. A look before the body: one that comes with a caller's idempotency key may have its answer all the same.
   */
  rateRefusal(caller: CallerIds): Promise<RateRefusal | null>;
  /** What `admit` would decide now for this plan, without writing: the quote endpoint. */
  preview(admission: AdmissionRequest): Promise<AdmissionDecision>;

  balance(organizationId: string): Promise<BalanceRecord | null>;
  /** Idempotent by (source, externalId): the second time is a no-op that returns the first result. */
  topUp(
    topUp: {
      organizationId: string;
      amount: NanoUsd;
      kind: "purchase" | "grant";
      source: string;
      externalId: string;
      /** Of who gives it: a line of the audit log beside its own. */
      reason?: string | undefined;
    },
    actor: Actor,
  ): Promise<TopUpOutcome>;
  /**
   * Money that goes back, idempotent as `topUp`: a chargeback of a payment (what the balance does not cover becomes
   * debt), or the refund of a settled request. `target` names that payment or request.
   */
  reverse(
    reversal: {
      organizationId: string;
      amount: NanoUsd;
      kind: "chargeback" | "refund";
      target: string;
      source: string;
      externalId: string;
      /** As of `topUp`. */
      reason?: string | undefined;
    },
    actor: Actor,
  ): Promise<ReversalOutcome>;

  /** Ends a request that is in quarantine, as an operator decided. */
  endByHand(ending: EndingByHand, actor: Actor): Promise<EndedByHand>;

  /** What `work` finds, each statement as of now, beside what is being written. */
  read<T>(work: Work<T>): Promise<T>;
  /**
   * A change to what admissions are decided on, by its owner (`src/registry`): all of it or nothing, in one order with
   * every admission and settlement of the organizations that it locks. It may run more than once, so it does nothing but
   * ask. `of`: null where it locks no organization. Throws `Refusal("overloaded")` while the store takes no writes, and
   * where it has waited for too long.
   */
  change<T>(of: Changing | null, work: Work<T>): Promise<T>;

  /** Checks the invariants of money.md §5 in one snapshot, on a reader of its own, while traffic runs. */
  verify(): Promise<VerificationReport>;
  /**
   * Looks at the books now, of these organizations from their first entry on: whoever's do not add up is stopped, whoever's hold
   * again goes on (money.md §5). Every minute it does so by itself.
   */
  checkBooks(suspects: readonly string[]): Promise<void>;
  /** Lets a stopped organization go on, as an operator decided. */
  resume(of: { organizationId: string; reason: string }, actor: Actor): Promise<ResumeOutcome>;
  /** Whether the store takes writes right now; `/readyz`. */
  ready(): boolean;
  /** Why it does not, for the log; says nothing while it does. */
  trouble(): string;
  /**
   * Whether this gateway does what one of all does: the one that has been there for longest of those that are there, by the
   * database's clock. For work that two may do at once and that need not be done twice: who leads may change at any moment.
   */
  leads(): Promise<boolean>;
  /** How fast it takes them, from the last commits of this process. */
  pulse(): LedgerPulse;
  /** Finishes what is queued, then closes the store. */
  close(): Promise<void>;
}

/** Statements of one transaction; `nowMs`: the clock that rows are stamped by, read when it begins. */
export type Work<T> = (nowMs: number) => Query<T>;

/** Whose records are changed, and by whom: changes of one organization come one after the other, persons take turns. */
export interface Changing {
  organizationId: string;
  by: string;
}

/** Where records are read. */
export type Reader = Pick<Ledger, "read">;
/** Where the records beside money are read and changed. */
export type Transactions = Pick<Ledger, "read" | "change">;
