// The rows that decisions are based on: what a store loads under its lock, and what it writes back.
// Plain data, the same for every store, and owned by one batch (money.md §5, §7).
import type { AuditNote } from "../domain/audit-note.ts";
import type { Evidence, Tier } from "../domain/gateway-object.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { RateLimits, RateSubject } from "../domain/rate-limits.ts";
import type { Loaded } from "./column-loads.ts";
import type { Written } from "./column-writes.ts";
import type { LOAD, WRITE } from "./columns.ts";
import type { LoadedKeySpend } from "./key-spend.ts";
import type { Checkpoint, StoredAnswer } from "./ledger.ts";

/** `version`: entries written so far, the next one gets `version + 1`; `stampedAtMs`: the organization's newest stamp. */
export type BalanceRow = Loaded<typeof LOAD.balance>;
export type KeyRow = Loaded<typeof LOAD.key>;
export type KeyMonthRow = Loaded<typeof LOAD.keyMonth>;

/** What is set for a subject of `domain/rate-limits.ts`, and what is taken of it: `limits/gcra.ts`. */
export type RateLimitRow = Loaded<typeof LOAD.rateLimit>;

/** A subject that a request counts towards, with the limits in force. */
export interface Limited {
  subject: RateSubject;
  row: RateLimitRow;
  limits: RateLimits;
}

export type RequestState = "dispatched" | "settled" | "released";

/** A claim with the state of its request. */
export interface ClaimRow extends Loaded<typeof LOAD.claim> {
  /** Null if its request does not exist: the claim still holds. */
  state: RequestState | null;
  /** Null while the request runs. */
  answerUntilMs: number | null;
  claimUntilMs: number | null;
  answerKept: boolean;
  /** For an unfinished request: true if only an operator can end it. */
  quarantined: boolean;
}

/**
 * An admitted request, with what its end needs. `lowered`: its hold was lowered while it ran;
 * `checkpointed`: its progress was noted, and chunks may be stored for it.
 */
export interface RequestRow extends Omit<Loaded<typeof LOAD.request>, "state"> {
  state: RequestState;
}

type EntitlementRow = Pick<Loaded<typeof LOAD.entitlement>, "state" | "expiresAtMs">;

/** A route with its newest release. */
export type RouteRow = Loaded<typeof LOAD.routeState> & Loaded<typeof LOAD.routeRelease>;

type TopUpRow = Pick<Loaded<typeof LOAD.topUp>, "amount" | "kind" | "balanceAfter">;

/** `target`: the payment, or the request. */
type ReversalRow = Pick<
  Loaded<typeof LOAD.reversal>,
  "amount" | "kind" | "target" | "balanceAfter" | "debtAfter"
>;

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
  /** Keys with a day or week limit, by key. */
  keySpends: Map<string, LoadedKeySpend>;
  claims: Map<string, ClaimRow>;
  requests: Map<string, RequestRow>;
  entitlements: Map<string, EntitlementRow[]>;
  routes: Map<string, RouteRow>;
  /** The existing limits that concern an admission or the end of a request. */
  rateLimits: Map<string, RateLimitRow>;
  /** The running requests of a subject that a default limits and that has no row yet, minus those that ended in this batch. */
  openRequests: Map<string, number>;
  topUps: Map<string, TopUpRow>;
  reversals: Map<string, ReversalRow>;
  refundables: Map<string, RefundableRow>;
  /** Requests in quarantine, loaded only to end them by hand. */
  quarantined: Set<string>;
}

/** Returns empty rows: each batch begins with its own. */
export const noRows = (): Rows => ({
  balances: new Map(),
  keys: new Map(),
  keyMonths: new Map(),
  keySpends: new Map(),
  claims: new Map(),
  requests: new Map(),
  entitlements: new Map(),
  routes: new Map(),
  rateLimits: new Map(),
  openRequests: new Map(),
  topUps: new Map(),
  reversals: new Map(),
  refundables: new Map(),
  quarantined: new Set(),
});

/** Joins the parts of a row's key with a character that no part may contain. */
export function rowId(first: string, second: string, third?: string, fourth?: string | number): string {
  if (third === undefined) return `${first}\u0000${second}`;
  if (fourth === undefined) return `${first}\u0000${second}\u0000${third}`;
  return `${first}\u0000${second}\u0000${third}\u0000${fourth}`;
}

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

/**
 * One debit→credit pair. Moves of one kind in one transaction form one entry; the requests name the transaction.
 * `requests` is their number, 0 for top-ups and reversals, whose `reference` is the JSON of `[source, externalId]`.
 */
export type EntryRow = Written<typeof WRITE.entry> & { kind: EntryKind; debit: Account; credit: Account };

type OpenedRow = Written<typeof WRITE.open> & { tier: Tier };

/** `releaseDigest` null keeps the release frozen at admission; `attempts` is JSON. */
export type ClosedRow = Written<typeof WRITE.close> & {
  state: "settled" | "released";
  status: number;
  totalMs: number;
  evidence: Evidence;
};

/** What a batch adds to the roll-up of an hour. */
export type HourUsage = Written<typeof WRITE.usageHour>;

interface AuditLine extends AuditNote {
  atMs: number;
}

/** Written in one transaction; each row once, however many operations changed it. */
export interface Changes {
  /** `versionRead`: the version the row had when it was loaded; its update depends on it. */
  balances: (BalanceRow & { versionRead: number })[];
  keyMonths: Set<KeyMonthRow>;
  rateLimits: Set<RateLimitRow>;
  holdsNoted: Written<typeof WRITE.noteHold>[];
  /** Noted holds of requests that have ended. */
  holdsForgotten: Written<typeof WRITE.forgetHold>[];
  entries: EntryRow[];
  opened: OpenedRow[];
  /** Written before `closed`. */
  lowered: Written<typeof WRITE.lowerHold>[];
  closed: ClosedRow[];
  /** Written before `closed`; the last one of a request counts. */
  checkpoints: Written<typeof WRITE.noteProgress>[];
  chunks: { organizationId: string; requestId: string; chunk: NonNullable<Checkpoint["chunk"]> }[];
  /** Requests whose chunks are no longer needed. */
  chunksDropped: Written<typeof WRITE.dropChunks>[];
  claimsTaken: Written<typeof WRITE.takeClaim>[];
  claimsFreed: Written<typeof WRITE.freeClaim>[];
  answers: { organizationId: string; answer: StoredAnswer; expiresAtMs: number }[];
  /** `hour`: since the Unix epoch, of the admission. */
  usageHours: Map<string, HourUsage>;
  topUps: Written<typeof WRITE.topUp>[];
  reversals: Written<typeof WRITE.reversal>[];
  /** The charge is null if the hold was released. */
  endedByHand: Written<typeof WRITE.endByHand>[];
  auditLines: AuditLine[];
}

/** Returns empty changes: each batch begins with its own. */
export const noChanges = (): Changes => ({
  balances: [],
  keyMonths: new Set(),
  rateLimits: new Set(),
  holdsNoted: [],
  holdsForgotten: [],
  entries: [],
  opened: [],
  lowered: [],
  closed: [],
  checkpoints: [],
  chunks: [],
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
