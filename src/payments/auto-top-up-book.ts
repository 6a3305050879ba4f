// Each organization's automatic top-up terms, and the outcome of the last try.
import type { NanoUsd } from "../domain/money.ts";
import {
  moneyOf,
  numberOf,
  orNull,
  placesFrom,
  type Sql,
  type SqlRow,
  type Statement,
  statement,
  textOf,
} from "../store/sql.ts";

export interface AutoTopUp {
  organizationId: string;
  enabled: boolean;
  /** Tops up when less than this is available. */
  threshold: NanoUsd;
  amount: NanoUsd;
  /** The most charged in a UTC month; null means no cap. */
  monthlyCap: NanoUsd | null;
  /** Consecutive declined tries. */
  failures: number;
  lastFailure: string | null;
  failedAtMs: number | null;
  /** Null without a failure, and after the last retry: then only a person can start it again. */
  nextTryAtMs: number | null;
}

export type AutoTopUpTerms = Pick<
  AutoTopUp,
  "organizationId" | "enabled" | "threshold" | "amount" | "monthlyCap"
>;

export interface TryFailed {
  reason: string;
  failures: number;
  nextTryAtMs: number | null;
  /** The card that failed, null if there was none; omitted when the failure concerns only the terms. */
  methodId?: string | null;
}

/** The terms of an organization that has set none yet. */
export const UNSET = { enabled: false, threshold: null, amount: null, monthlyCap: null } as const;

/** One row per organization; amounts in nano-USD. */
export class AutoTopUpBook {
  constructor(private readonly sql: Sql) {}

  /**
   * Sets new terms and clears earlier failures. Returns null if `from` is not what is in force; a null `from`
   * means no terms. `told` is written only together with the terms.
   */
  async set(
    terms: AutoTopUpTerms,
    from: AutoTopUpTerms | null,
    told: readonly Statement[] = [],
  ): Promise<AutoTopUp | null> {
    const setting = statement(
      `INSERT INTO auto_top_up (org_id, enabled, threshold, amount, monthly_cap, failures)
       SELECT org_id, ?2, ?3, ?4, ?5, 0 FROM organization WHERE org_id = ?1
       ON CONFLICT (org_id) DO UPDATE SET enabled = excluded.enabled, threshold = excluded.threshold,
         amount = excluded.amount, monthly_cap = excluded.monthly_cap, failures = 0, last_failure = NULL,
         failed_at = NULL, next_try_at = NULL
       WHERE ${asRead(6)}`,
      terms.organizationId,
      ...valuesOf(terms),
      ...(from === null ? NO_TERMS : valuesOf(from)),
    );
    return (await this.sql.ifChanged(setting, told)) ? await this.find(terms.organizationId) : null;
  }

  async find(organizationId: string): Promise<AutoTopUp | null> {
    const [row] = await this.sql.rows("SELECT * FROM auto_top_up WHERE org_id = ?1", organizationId);
    return row === undefined ? null : autoTopUpOf(row);
  }

  /** Why the last try failed, for each of these organizations that has a failure. */
  async failures(organizationIds: readonly string[]): Promise<Map<string, () => string | null>> {
    const rows = await this.sql.rows(
      `SELECT org_id, last_failure FROM auto_top_up WHERE org_id IN (${placesFrom(1, organizationIds)})`,
      ...organizationIds,
    );
    return new Map(rows.map((row) => [textOf(row["org_id"]), () => orNull(row["last_failure"], textOf)]));
  }

  /** True if these terms are enabled, still in force, and may be acted on now. */
  async isInForce(terms: AutoTopUpTerms, nowMs: number): Promise<boolean> {
    const found = await this.sql.rows(
      `SELECT 1 FROM auto_top_up WHERE org_id = ?1 AND enabled = 1 AND ${asRead(2)}
         AND (last_failure IS NULL OR next_try_at <= ?6)`,
      terms.organizationId,
      ...valuesOf(terms),
      nowMs,
    );
    return found.length > 0;
  }

  /**
   * The organizations that may try now: if enabled, those running low (`actsBelow`); if disabled, those with
   * an open order that may have been charged.
   */
  async due(nowMs: number): Promise<AutoTopUp[]> {
    const rows = await this.sql.rows(
      `SELECT auto_top_up.* FROM auto_top_up
       JOIN org_balance ON org_balance.org_id = auto_top_up.org_id AND slot = 0
       WHERE (last_failure IS NULL OR next_try_at <= ?1)
         AND CASE WHEN enabled = 1 THEN available < threshold AND available < amount
             ELSE EXISTS (SELECT 1 FROM payment_order WHERE payment_order.org_id = auto_top_up.org_id
               AND purpose = 'auto_top_up' AND state = 'open' AND session_id IS NULL) END
       ORDER BY auto_top_up.org_id`,
      nowMs,
    );
    return rows.map(autoTopUpOf);
  }

  /**
   * Records a failed try on these terms. Changes nothing if the terms or the card have changed since, or if
   * the row is held.
   */
  async failed(terms: AutoTopUpTerms, how: TryFailed, nowMs: number): Promise<void> {
    await this.sql.rows(
      `UPDATE auto_top_up SET last_failure = ?2, failures = ?3, next_try_at = ?4, failed_at = ?5
       WHERE org_id = ?1 AND ${asRead(6)} AND (CAST(?10 AS int) = 0 OR CAST(?11 AS text) IS NOT DISTINCT FROM
         (SELECT method_id FROM payment_method WHERE payment_method.org_id = ?1))
         AND NOT (${isHeld(12)})`,
      terms.organizationId,
      how.reason,
      how.failures,
      how.nextTryAtMs,
      nowMs,
      ...valuesOf(terms),
      how.methodId === undefined ? 0 : 1,
      how.methodId ?? null,
      HELD,
    );
  }

  /** Pauses automatic top-up after a payment was reversed: nothing is charged until a person asks for it. */
  async hold({ organizationId, ...terms }: AutoTopUpTerms, nowMs: number): Promise<void> {
    await this.sql.rows(
      `UPDATE auto_top_up SET last_failure = ?2, next_try_at = NULL, failed_at = ?3 WHERE org_id = ?1 AND ${asRead(4)}`,
      organizationId,
      HELD,
      nowMs,
      ...valuesOf({ organizationId, ...terms }),
    );
  }

  /**
   * Clears earlier failures after a successful charge, or when a card was saved by a payment made at
   * `paidAtMs`. A hold is cleared only by a payment that a person made after it: a charge already under way
   * or a late event says nothing about it.
   */
  async succeeded(organizationId: string, paidAtMs = 0): Promise<void> {
    await this.sql.rows(
      `UPDATE auto_top_up SET last_failure = NULL, failures = 0, next_try_at = NULL, failed_at = NULL
       WHERE org_id = ?1 AND last_failure IS NOT NULL AND NOT (${isHeld(2)} AND failed_at >= ?3)`,
      organizationId,
      HELD,
      paidAtMs,
    );
  }

  /** Schedules another try, at a person's request. */
  async retry(organizationId: string, nowMs: number): Promise<AutoTopUp | null> {
    const [row] = await this.sql.rows(
      `UPDATE auto_top_up SET next_try_at = ?2, failures = 0
       WHERE org_id = ?1 AND last_failure IS NOT NULL RETURNING *`,
      organizationId,
      nowMs,
    );
    return row === undefined ? this.find(organizationId) : autoTopUpOf(row);
  }
}

const HELD =
  "A payment was disputed or paid back. Nothing is charged by itself until somebody asks for the next try.";
/**
 * SQL condition: the row is held and nobody has asked for another try since. `HELD` is parameter `number`.
 */
const isHeld = (number: number): string =>
  `last_failure IS NOT NULL AND last_failure = ?${number} AND next_try_at IS NULL`;

/**
 * SQL condition: the row still has the terms that were read. Its parameters are `valuesOf` those terms,
 * starting at `first`.
 */
const asRead = (first: number): string =>
  `auto_top_up.enabled = ?${first} AND auto_top_up.threshold = ?${first + 1} AND auto_top_up.amount = ?${first + 2}
   AND auto_top_up.monthly_cap IS NOT DISTINCT FROM ?${first + 3}`;

const valuesOf = ({ enabled, threshold, amount, monthlyCap }: AutoTopUpTerms) =>
  [enabled ? 1 : 0, threshold, amount, monthlyCap] as const;
/** Matches no row. */
const NO_TERMS = [null, null, null, null] as const;

const autoTopUpOf = (row: SqlRow): AutoTopUp => ({
  organizationId: textOf(row["org_id"]),
  enabled: numberOf(row["enabled"]) === 1,
  threshold: moneyOf(row["threshold"]),
  amount: moneyOf(row["amount"]),
  monthlyCap: orNull(row["monthly_cap"], moneyOf),
  failures: numberOf(row["failures"]),
  lastFailure: orNull(row["last_failure"], textOf),
  failedAtMs: orNull(row["failed_at"], numberOf),
  nextTryAtMs: orNull(row["next_try_at"], numberOf),
});
