// The records of requests, balances and verifications, as all readers see them, in the shape of their rows (`columns.ts`).
import type { Evidence, Tier } from "../domain/gateway-object.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { Loaded } from "./column-loads.ts";
import type { RECORD } from "./columns.ts";

/** One call to a provider on behalf of a request, in the order in which they were made; `n` counts from 1. */
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
  /** Why the provider's usage was not taken as it was; absent if it was. */
  doubts?: Doubt[];
  /**
   * What the provider reported beyond the quoted bounds, from which the variance is computed; absent if it reported
   * nothing beyond them.
   */
  told?: TokenCounts;
  /** The provider's own words, redacted; absent if it gave none, or if an older program wrote the record. */
  words?: string;
}

/**
 * `usage_clamped`: it reported more than was quoted · `usage_below_delivered`: it reported far less than it delivered ·
 * `output_above_maximum`: it exceeded the output maximum it was given.
 */
export const DOUBTS = ["usage_clamped", "usage_below_delivered", "output_above_maximum"] as const;
export type Doubt = (typeof DOUBTS)[number];

/** The usage that a charge is computed from. */
export interface TokenUsage extends TokenCounts {
  reasoningTokens: number | null;
}

/** The `errorCode` of a request that was released without its owner. */
export const OWNER_LOST = "owner_lost";

type Recorded = Loaded<typeof RECORD>;

/** `releaseDigest` is that of the release that served or, while the request runs, of the one frozen first. */
export interface RequestRecord
  extends Omit<
    Recorded,
    "tier" | "state" | "evidence" | "attempts" | "usageClasses" | "surface" | keyof TokenUsage
  > {
  tier: Tier;
  surface: string;
  researchMode: boolean;
  state: "running" | "settled" | "released" | "outcome_unknown";
  evidence: Evidence | null;
  usage: TokenUsage | null;
  attempts: AttemptRecord[];
}

/**
 * One organization's account in nano-USD: its current amounts, and the totals ever purchased, granted
 * and charged (I1, I2, I12 of money.md §5).
 */
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

/** The result of a verification of the ledger; operators see it as the report of `ledger audit`. */
export interface VerificationReport {
  /** True if nothing is violated beyond what an operator has accepted. */
  ok: boolean;
  /** Invariant → rows checked. */
  checked: Record<string, number>;
  /** Invariant → milliseconds taken. */
  tookMs: Record<string, number>;
  violations: Violation[];
  /** Violations in entries of the past that an operator has accepted (`ledger resume`). */
  accepted: Violation[];
}

/** One violation of an invariant. Amounts in nano-USD, or whatever else the invariant compares. */
export interface Violation {
  invariant: string;
  organizationId: string | null;
  requestId: string | null;
  expected: string;
  found: string;
}
