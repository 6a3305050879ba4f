// The movements of money that a restore loses, for an operator to book again: payments, refunds and chargebacks made
// after the backup.
import type { NanoUsd } from "../domain/money.ts";
import { columnNames, type Restoring } from "./restoring.ts";

/** A purchase or grant that is not in the backup. */
export interface CreditGone {
  org: string;
  kind: "purchase" | "grant";
  amount: NanoUsd;
  /** The reference that the payment service or the operator gave it. */
  reference: string;
}

/** A chargeback that is not in the backup, or the refund of a request that is. */
export interface ReversalGone {
  org: string;
  kind: "chargeback" | "refund";
  amount: NanoUsd;
  reference: string;
  /** The payment that was charged back, or the request that was refunded. */
  target: string;
}

/** Oldest first. Whoever paid for these credits no longer has them. */
export function creditsGone({ copy, replaced }: Restoring): CreditGone[] {
  const known = copy.query("SELECT 1 FROM topup WHERE org_id = ?1 AND source = ?2 AND external_id = ?3");
  return replaced
    .query<CreditGone & { source: string }, []>(
      "SELECT org_id AS org, source, external_id AS reference, kind, amount FROM topup ORDER BY at, org_id, external_id",
    )
    .all()
    .filter(({ org, source, reference }) => known.get(org, source, reference) === null)
    .map(({ org, kind, amount, reference }) => ({ org, kind, amount, reference }));
}

/** Oldest first. What a chargeback took away can be spent again; what a refund returned is charged again. */
export function reversalsGone({ copy, replaced }: Restoring): ReversalGone[] {
  if (columnNames(replaced, "reversal").length === 0) return [];
  const known =
    columnNames(copy, "reversal").length === 0
      ? null
      : copy.query("SELECT 1 FROM reversal WHERE org_id = ?1 AND source = ?2 AND external_id = ?3");
  const charged = copy.query("SELECT 1 FROM request WHERE org_id = ?1 AND request_id = ?2");
  return replaced
    .query<ReversalGone & { source: string }, []>(
      "SELECT org_id AS org, source, external_id AS reference, kind, amount, target FROM reversal ORDER BY at, org_id, external_id",
    )
    .all()
    .filter(({ org, source, reference }) => (known?.get(org, source, reference) ?? null) === null)
    .filter(({ org, kind, target }) => kind === "chargeback" || charged.get(org, target) !== null)
    .map(({ org, kind, amount, reference, target }) => ({ org, kind, amount, reference, target }));
}

/** Organizations that switched off automatic top-up or removed their card after the backup, and now have both again. */
export function chargedAgain({ copy, replaced }: Restoring): string[] {
  const sql = `SELECT a.org_id FROM auto_top_up a JOIN payment_method m ON m.org_id = a.org_id
               WHERE a.enabled = 1 ORDER BY a.org_id`;
  const of = (database: Restoring["copy"]): string[] =>
    columnNames(database, "auto_top_up").length === 0 ? [] : database.query(sql).values().map(String);
  const stay = new Set(of(replaced));
  return of(copy).filter((org) => !stay.has(org));
}
