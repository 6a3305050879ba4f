// Who owns what money: the one interface of both stores (money.md). Every method that changes something is durable
// when its promise resolves; operations of one event-loop tick share a transaction. Rules live in `decide`, not in a store.
import type { Actor } from "../contract/actor.ts";
import type { Credential } from "../contract/credential.ts";
import type { Evidence, Tier } from "../contract/gateway-object.ts";
import type { NanoUsd } from "../contract/money.ts";
import type { Refusal } from "../contract/refusals.ts";
import type { Release, RouteState } from "../contract/release.ts";
import type { KeyEdit } from "./key-edit.ts";
import type { LedgerPulse } from "./pulse.ts";

// ── The money path ──────────────────────────────────────────────────────────────────────────────────────────────

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
  routes: { route: string; version: number; digest: string; expiresAtMs: number }[];
  hold: NanoUsd;
  promptBound: number;
  /** Output ceiling × n. */
  outputBound: number;
  stream: boolean;
  /** How long the request may run, from admission. */
  timeoutMs: number;
}

export interface Admission {
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

export type AdmitOutcome =
  | {
      kind: "admitted";
      admittedAtMs: number;
      openRoutes: string[];
      researchMode: boolean;
      headroom: Headroom;
    }
  | { kind: "replay"; answer: StoredAnswer }
  /** The first request under this claim still runs. */
  | { kind: "running"; requestId: string }
  /** `authenticated` is false for 401: nothing about the organization may be said then. */
  | { kind: "refused"; refusal: Refusal; authenticated: boolean };

export interface AttemptRecord {
  n: number;
  route: string;
  provider: string;
  startedAtMs: number;
  durationMs: number;
  outcome: "not_executed" | "failed" | "answered" | "unknown";
  upstreamId: string | null;
  upstreamStatus: number | null;
  errorClass: string | null;
}

export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number | null;
  reasoningTokens: number | null;
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
  /** Computed price above the charge; the house pays it. */
  variance: NanoUsd;
  minimumApplied: boolean;
  finishReason: string | null;
  status: number;
  attempts: AttemptRecord[];
  firstPartMs: number | null;
  totalMs: number;
  /** Kept under the caller's key; null for requests without one. */
  answer: StoredAnswer | null;
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

// ── Records ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface OrganizationRecord {
  id: string;
  name: string;
  createdAtMs: number;
}

export interface BalanceRecord {
  organizationId: string;
  available: NanoUsd;
  held: NanoUsd;
  spent: NanoUsd;
  purchased: NanoUsd;
  granted: NanoUsd;
  debt: NanoUsd;
  paidWorkspace: boolean;
}

export interface KeyRecord {
  id: string;
  organizationId: string;
  name: string;
  /** The displayable part before the secret. */
  prefix: string;
  scope: Tier;
  limit: NanoUsd | null;
  /** Figures of the current UTC month. */
  month: string;
  monthSpend: NanoUsd;
  held: NanoUsd;
  createdAtMs: number;
  lastUsedAtMs: number | null;
  revokedAtMs: number | null;
}

export interface EntitlementRecord {
  id: string;
  organizationId: string;
  model: string;
  project: string;
  status: "requested" | "active" | "revoked" | "expired";
  requestedBy: string;
  approvedBy: string | null;
  createdAtMs: number;
  expiresAtMs: number | null;
}

export interface RequestRecord {
  requestId: string;
  organizationId: string;
  keyId: string;
  idempotencyKey: string | null;
  model: string;
  tier: Tier;
  researchMode: boolean;
  state: "running" | "settled" | "released" | "outcome_unknown";
  stream: boolean;
  admittedAtMs: number;
  endedAtMs: number | null;
  month: string;
  hold: NanoUsd;
  promptBound: number;
  outputBound: number;
  /** The release that served (or was frozen first, while running). */
  releaseDigest: string;
  evidence: Evidence | null;
  usage: TokenUsage | null;
  charge: NanoUsd;
  variance: NanoUsd;
  minimumApplied: boolean;
  status: number | null;
  errorCode: string | null;
  finishReason: string | null;
  firstPartMs: number | null;
  totalMs: number | null;
  attempts: AttemptRecord[];
}

export interface UsageFilter {
  organizationId: string;
  keyId?: string;
  model?: string;
  fromMs?: number;
  toMs?: number;
  groupBy?: "key" | "model" | "day";
}

export interface UsageRow {
  /** Key id, model or UTC day of the group; null for the one ungrouped total. */
  group: string | null;
  requests: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  charge: NanoUsd;
}

export interface RouteRecord {
  route: string;
  /** The highest version ever accepted; never sinks. */
  highestVersion: number;
  disabled: boolean;
  reason: string | null;
  sinceMs: number;
}

export interface ManagementKeyRecord {
  id: string;
  name: string;
  prefix: string;
  createdAtMs: number;
  /** Null for one that lasts until it is revoked. */
  expiresAtMs: number | null;
  revokedAtMs: number | null;
}

/** One line of the append-only audit log (S40). */
export interface AuditLogRecord {
  at: number;
  actor: string;
  /** Of the call; null where none is behind it. */
  address: string | null;
  requestId: string | null;
  action: string;
  organizationId: string | null;
  target: string;
  before: string | null;
  after: string | null;
}

export interface AuditReport {
  ok: boolean;
  /** Invariant → rows checked. */
  checked: Record<string, number>;
  /** Invariant → milliseconds that it took. */
  tookMs: Record<string, number>;
  violations: {
    invariant: string;
    organizationId: string | null;
    requestId: string | null;
    expected: string;
    found: string;
  }[];
}

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

// ── The interface ───────────────────────────────────────────────────────────────────────────────────────────────

export interface Ledger {
  /** COMMIT 1. Never throws for policy; throws `Refusal("overloaded")` when the queue is full or the store is down. */
  admit(admission: Admission): Promise<AdmitOutcome>;
  /** COMMIT 2. Retries for ever on store errors; the hold stays until it succeeds. */
  settle(settlement: Settlement): Promise<ResolveOutcome>;
  void(voiding: Voiding): Promise<ResolveOutcome>;
  /** Goes with the next batch. Throws `Refusal("overloaded")` while the store takes no writes: the stream goes on. */
  checkpoint(checkpoint: Checkpoint): Promise<CheckpointOutcome>;

  /** Key state as of now, read from the store, never cached; for the free endpoints and for quotes. */
  authenticate(
    credential: Credential,
  ): Promise<{ kind: "key"; key: KeyRecord } | { kind: "refused"; refusal: Refusal }>;
  /** What `admit` would decide now for this plan, without writing: the quote endpoint. */
  preview(admission: Admission): Promise<AdmitOutcome>;

  createOrganization(organization: { id: string; name: string }, actor: Actor): Promise<OrganizationRecord>;
  organizations(): Promise<OrganizationRecord[]>;
  organization(id: string): Promise<OrganizationRecord | null>;
  balance(organizationId: string): Promise<BalanceRecord | null>;
  /** Idempotent by (source, externalId): the second time is a no-op that returns the first result. */
  topUp(
    topUp: {
      organizationId: string;
      amount: NanoUsd;
      kind: "purchase" | "grant";
      source: string;
      externalId: string;
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
    },
    actor: Actor,
  ): Promise<ReversalOutcome>;

  createKey(
    key: {
      id: string;
      organizationId: string;
      name: string;
      prefix: string;
      digest: Uint8Array;
      scope: Tier;
      limit: NanoUsd | null;
    },
    actor: Actor,
  ): Promise<KeyRecord | null>;
  keys(organizationId: string): Promise<KeyRecord[]>;
  key(keyId: string): Promise<KeyRecord | null>;
  /** Null when there is no such key; revoking twice keeps the first instant. */
  revokeKey(keyId: string, actor: Actor): Promise<KeyRecord | null>;
  /** Null when there is no such key. */
  changeKey(keyId: string, edit: KeyEdit, actor: Actor): Promise<KeyRecord | "changed_meanwhile" | null>;

  requestEntitlement(
    entitlement: { id: string; organizationId: string; model: string; project: string },
    actor: Actor,
  ): Promise<EntitlementRecord | null>;
  /** Only from `requested`; returns null when there is no such entitlement, or the record unchanged in another state. */
  approveEntitlement(id: string, expiresAtMs: number, actor: Actor): Promise<EntitlementRecord | null>;
  revokeEntitlement(id: string, actor: Actor): Promise<EntitlementRecord | null>;
  entitlements(organizationId?: string): Promise<EntitlementRecord[]>;

  /** Accepts only a version above the highest ever stored for the route (S33). */
  publishRelease(
    published: { release: Release; jws: string },
    actor: Actor,
  ): Promise<{ kind: "published" } | { kind: "rolled_back"; highest: number } | { kind: "repeated" }>;
  /** Newest release of each route. */
  releases(): Promise<{ release: Release; jws: string; publishedAtMs: number }[]>;
  release(digest: string): Promise<Release | null>;
  routes(): Promise<RouteRecord[]>;
  setRouteDisabled(
    route: string,
    disabled: boolean,
    reason: string | null,
    actor: Actor,
  ): Promise<RouteRecord | null>;

  request(requestId: string): Promise<RequestRecord | null>;
  usage(filter: UsageFilter): Promise<UsageRow[]>;
  auditLog(filter: { organizationId?: string; limit: number }): Promise<AuditLogRecord[]>;

  createManagementKey(
    key: {
      id: string;
      name: string;
      prefix: string;
      digest: Uint8Array;
      /** The command line of this person signed in with it; it ends by itself. */
      login?: { personId: string; livesMs: number };
    },
    actor: Actor,
  ): Promise<ManagementKeyRecord>;
  authenticateManagementKey(id: string, digest: Uint8Array): Promise<ManagementKeyRecord | null>;
  revokeManagementKey(id: string, actor: Actor): Promise<ManagementKeyRecord | null>;

  /** Checks the invariants of money.md §5 in one snapshot, on a reader of its own, while traffic runs. */
  audit(): Promise<AuditReport>;
  /** Whether the store takes writes right now; `/readyz`. */
  ready(): boolean;
  /** Why it does not, for the log; says nothing while it does. */
  trouble(): string;
  /** How fast it takes them, from the last commits of this process. */
  pulse(): LedgerPulse;
  /** Finishes what is queued, then closes the store. */
  close(): Promise<void>;
}

export type { RouteState };
