// Each organization's wish to be topped up by itself, and how the last try went.
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
  /** At most this much in a UTC month; null is no cap. */
  monthlyCap: NanoUsd | null;
  /** Declined tries in a row. */
  failures: number;
  lastFailure: string | null;
  failedAtMs: number | null;
  /** Null without a failure, and after the last try: then only a person starts it again. */
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
  /** The card that it was about, null where there was none; left out where it was about the terms alone. */
  methodId?: string | null;
}

/** Of an organization that has set nothing yet. */
export const UNSET = { enabled: false, threshold: null, amount: null, monthlyCap: null } as const;

/** One row for each organization; amounts in nano-USD. */
export class AutoTopUpBook {
  constructor(private readonly sql: Sql) {}

  /**
   * New terms forget earlier failures. Null when those from before are not the ones in force, null being none. `told`: written
   * with them, and only with them.
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

  /** Why the last one failed, of each of these organizations that has one. */
  async failures(organizationIds: readonly string[]): Promise<Map<string, () => string | null>> {
    const rows = await this.sql.rows(
      `SELECT org_id, last_failure FROM auto_top_up WHERE org_id IN (${placesFrom(1, organizationIds)})`,
      ...organizationIds,
    );
    return new Map(rows.map((row) => [textOf(row["org_id"]), () => orNull(row["last_failure"], textOf)]));
  }

  /** Whether these terms are on, still those in force, and may be acted on now. */
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
   * Those that may try now: where it is on, those that run low (`actsBelow`); where it is off, those whose order is open
   * and perhaps charged.
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
   * How a try on these terms went; terms that were set meanwhile are not marked, nor is another card, nor what is held since.
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

  /** A payment was taken back: nothing is charged by itself until a person asks for it. */
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
   * A charge came through, or there is a card of a payment of `paidAtMs`: earlier failures are forgotten. What is held is not,
   * but by a payment that a person made since: a charge that was under way, or an event that comes late, says nothing of it.
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

  /** A person asks for another try. */
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
/** That a row is held, and nobody has asked for the next try since: `HELD` is its parameter of this number. */
const isHeld = (number: number): string =>
  `last_failure IS NOT NULL AND last_failure = ?${number} AND next_try_at IS NULL`;

/** That a row has the terms that somebody read: `valuesOf` them are its parameters, from this number on. */
const asRead = (first: number): string =>
  `auto_top_up.enabled = ?${first} AND auto_top_up.threshold = ?${first + 1} AND auto_top_up.amount = ?${first + 2}
   AND auto_top_up.monthly_cap IS NOT DISTINCT FROM ?${first + 3}`;

const valuesOf = ({ enabled, threshold, amount, monthlyCap }: AutoTopUpTerms) =>
  [enabled ? 1 : 0, threshold, amount, monthlyCap] as const;
/** Equal to no row. */
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
