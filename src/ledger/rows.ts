// The rows that decisions are taken on: what a store loads under its lock, and what it writes back. Plain data, the
// same for every store; all of it belongs to one batch and to nobody else (money.md §5, §7).
import type { AuditNote } from "../domain/audit-note.ts";
import type { Evidence, Tier } from "../domain/gateway-object.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { Checkpoint, StoredAnswer } from "./ledger.ts";

export interface BalanceRow {
  organizationId: string;
  available: NanoUsd;
  held: NanoUsd;
  debt: NanoUsd;
  purchased: NanoUsd;
  granted: NanoUsd;
  spent: NanoUsd;
  /** Number of ledger entries written so far; the next one gets `version + 1`. */
  version: number;
  headHash: Uint8Array;
  /** The organization's newest stamp. */
  stampedAtMs: number;
}

export interface KeyRow {
  organizationId: string;
  keyId: string;
  digest: Uint8Array;
  scope: Tier;
  limit: NanoUsd | null;
  revokedAtMs: number | null;
}

export interface KeyMonthRow {
  organizationId: string;
  keyId: string;
  month: string;
  held: NanoUsd;
  spent: NanoUsd;
  lastAdmittedAtMs: number;
}

export type RequestState = "dispatched" | "settled" | "released";

/** A claim with what its request has come to. */
export interface ClaimRow {
  organizationId: string;
  keyId: string;
  idempotencyKey: string;
  fingerprint: Uint8Array;
  requestId: string;
  /** Null where its request is not there: the claim holds all the same. */
  state: RequestState | null;
  /** Null while the request runs. */
  answerUntilMs: number | null;
  claimUntilMs: number | null;
  answerKept: boolean;
  /** While the request runs: whether nobody but an operator can end it. */
  quarantined: boolean;
}

/** An admitted request, as far as its end needs it. */
export interface RequestRow {
  organizationId: string;
  requestId: string;
  keyId: string;
  idempotencyKey: string | null;
  model: string;
  state: RequestState;
  epoch: number;
  closedTxn: number | null;
  admittedAtMs: number;
  month: string;
  hold: NanoUsd;
  promptBound: number;
  outputBound: number;
  /** Whether its hold was lowered while it ran. */
  lowered: boolean;
  /** Whether its progress was noted; then chunks may be stored for it. */
  checkpointed: boolean;
}

export interface EntitlementRow {
  state: "requested" | "active" | "revoked";
  expiresAtMs: number | null;
}

/** A route with its newest release. */
export interface RouteRow {
  route: string;
  highestVersion: number;
  digest: string;
  expiresAtMs: number;
  disabled: boolean;
}

interface TopUpRow {
  amount: NanoUsd;
  kind: "purchase" | "grant";
  balanceAfter: NanoUsd;
}

interface ReversalRow {
  amount: NanoUsd;
  kind: "chargeback" | "refund";
  /** The payment, or the request. */
  target: string;
  balanceAfter: NanoUsd;
  debtAfter: NanoUsd;
}

/** A settled request that a refund names. */
export interface RefundableRow {
  charge: NanoUsd;
  refunded: NanoUsd;
}

/** Everything a batch needs, by the ids of `rowId`. What is absent does not exist in the store. */
export interface Rows {
  balances: Map<string, BalanceRow>;
  keys: Map<string, KeyRow>;
  keyMonths: Map<string, KeyMonthRow>;
  claims: Map<string, ClaimRow>;
  requests: Map<string, RequestRow>;
  entitlements: Map<string, EntitlementRow[]>;
  routes: Map<string, RouteRow>;
  topUps: Map<string, TopUpRow>;
  reversals: Map<string, ReversalRow>;
  refundables: Map<string, RefundableRow>;
  /** Requests in quarantine, asked for only to be ended by hand. */
  quarantined: Set<string>;
}

export const noRows = (): Rows => ({
  balances: new Map(),
  keys: new Map(),
  keyMonths: new Map(),
  claims: new Map(),
  requests: new Map(),
  entitlements: new Map(),
  routes: new Map(),
  topUps: new Map(),
  reversals: new Map(),
  refundables: new Map(),
  quarantined: new Set(),
});

/** Joins the parts of a row's key with a character that no part may contain. */
export const rowId = (...parts: (string | number)[]): string => parts.join("\u0000");

// ── What a batch writes ─────────────────────────────────────────────────────────────────────────────────────────

export type Account = "available" | "held" | "revenue" | "purchases" | "grants" | "variance" | "debt";
export type EntryKind =
  | "hold"
  | "charge"
  | "lower"
  | "rest"
  | "void"
  | "variance"
  | "purchase"
  | "grant"
  | "debt_paid"
  | "chargeback"
  | "chargeback_debt"
  | "refund";

/** One debit→credit pair. Moves of one kind of one transaction are one entry; the requests name the transaction. */
export interface EntryRow {
  organizationId: string;
  slot: number;
  version: number;
  txn: number;
  kind: EntryKind;
  debit: Account;
  credit: Account;
  amount: NanoUsd;
  availableBefore: NanoUsd;
  availableAfter: NanoUsd;
  heldBefore: NanoUsd;
  heldAfter: NanoUsd;
  /** How many requests this entry stands for; 0 for top-ups and reversals. */
  requests: number;
  /** A top-up or a reversal: JSON of `[source, externalId]`. */
  reference: string | null;
  atMs: number;
  prevHash: Uint8Array;
  hash: Uint8Array;
}

export interface OpenedRow {
  organizationId: string;
  requestId: string;
  keyId: string;
  idempotencyKey: string | null;
  model: string;
  tier: Tier;
  stream: boolean;
  epoch: number;
  admittedAtMs: number;
  deadlineAtMs: number;
  month: string;
  releaseDigest: string;
  hold: NanoUsd;
  promptBound: number;
  outputBound: number;
  openedTxn: number;
}

export interface ClosedRow {
  organizationId: string;
  requestId: string;
  epoch: number;
  state: "settled" | "released";
  closedTxn: number;
  endedAtMs: number;
  /** Null keeps the release frozen at admission. */
  releaseDigest: string | null;
  evidence: Evidence;
  promptTokens: number | null;
  completionTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  charge: NanoUsd;
  variance: NanoUsd;
  minimumApplied: boolean;
  status: number;
  errorCode: string | null;
  finishReason: string | null;
  firstPartMs: number | null;
  totalMs: number;
  /** JSON. */
  attempts: string;
  answerUntilMs: number | null;
  claimUntilMs: number | null;
}

interface LoweredRow {
  organizationId: string;
  requestId: string;
  epoch: number;
  /** Its update depends on it. */
  holdRead: NanoUsd;
  hold: NanoUsd;
  promptBound: number;
  /** What went back. */
  amount: NanoUsd;
  txn: number;
}

interface ClaimTaken {
  organizationId: string;
  keyId: string;
  idempotencyKey: string;
  fingerprint: Uint8Array;
  requestId: string;
  expiresAtMs: number;
}

interface UsageHourRow {
  organizationId: string;
  keyId: string;
  model: string;
  /** Hours since the Unix epoch, of the admission. */
  hour: number;
  requests: number;
  inputTokens: bigint;
  cachedTokens: bigint;
  outputTokens: bigint;
  charge: NanoUsd;
}

interface TopUpTaken extends TopUpRow {
  organizationId: string;
  source: string;
  externalId: string;
  txn: number;
  atMs: number;
}

interface ReversalTaken extends ReversalRow {
  organizationId: string;
  source: string;
  externalId: string;
  txn: number;
  atMs: number;
}

interface AuditLine extends AuditNote {
  atMs: number;
}

/** Written in one transaction; each row once, however many operations changed it. */
export interface Changes {
  /** `versionRead`: the version the row had when it was loaded; its update depends on it. */
  balances: { row: BalanceRow; versionRead: number }[];
  keyMonths: Set<KeyMonthRow>;
  entries: EntryRow[];
  opened: OpenedRow[];
  /** Written before `closed`. */
  lowered: LoweredRow[];
  closed: ClosedRow[];
  /** Written before `closed`. */
  checkpoints: (Checkpoint & { epoch: number })[];
  /** Requests whose chunks are not needed any more. */
  chunksDropped: { organizationId: string; requestId: string }[];
  claimsTaken: ClaimTaken[];
  claimsFreed: { organizationId: string; keyId: string; idempotencyKey: string; requestId: string }[];
  answers: { organizationId: string; answer: StoredAnswer; expiresAtMs: number }[];
  usageHours: Map<string, UsageHourRow>;
  topUps: TopUpTaken[];
  reversals: ReversalTaken[];
  /** Decided by an operator; the charge is null where the hold was released. */
  endedByHand: {
    organizationId: string;
    requestId: string;
    atMs: number;
    by: string;
    reason: string;
    charge: NanoUsd | null;
  }[];
  auditLines: AuditLine[];
}

export const noChanges = (): Changes => ({
  balances: [],
  keyMonths: new Set(),
  entries: [],
  opened: [],
  lowered: [],
  closed: [],
  checkpoints: [],
  chunksDropped: [],
  claimsTaken: [],
  claimsFreed: [],
  answers: [],
  usageHours: new Map(),
  topUps: [],
  reversals: [],
  endedByHand: [],
  auditLines: [],
});
