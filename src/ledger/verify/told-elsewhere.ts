// Compares a row with what other rows recorded about it when it happened (I15, I16 of money.md §5). Queries for
// both stores that return organization, what it is about, expected, found, only for rows that do not agree.

/** Keys, including management keys, whose final end is in the audit log but which are not revoked. */
export const REVIVED_KEYS = `
  SELECT k.org_id, NULL, 'revoked: ' || k.key_id, 'in use or paused' FROM api_key k
  WHERE (k.revoked_at IS NULL OR k.paused_at IS NOT NULL)
    AND k.key_id IN (SELECT target FROM audit_log WHERE action IN ('key.revoke', 'key.expire'))
  UNION ALL
  SELECT NULL, NULL, 'revoked: ' || m.id, 'in use' FROM management_key m
  WHERE m.revoked_at IS NULL AND m.id IN (SELECT target FROM audit_log WHERE action = 'management_key.revoke')`;

/** How a store finds an instant in a line of the audit log. */
export interface PrintedEnds {
  /** The name of its function that finds one text in another, with 0 if it is not there. */
  place: string;
  /** SQL that prints an instant, given in milliseconds, as the log does. */
  printed: (ms: string) => string;
}

/**
 * Keys, including management keys, that were revoked at a different instant than the audit log says: if later, requests
 * that came after the key's end look as if they came before it. Keys that expired have no such instant in their line.
 */
export const movedEnds = ({ place, printed }: PrintedEnds): string => `
  SELECT a.org_id, NULL, a.target || ': ' || a.value_after, coalesce(${printed("k.revoked_at")}, 'no time')
  FROM audit_log a JOIN (
    SELECT key_id, revoked_at FROM api_key UNION ALL SELECT id, revoked_at FROM management_key) k ON k.key_id = a.target
  WHERE a.action IN ('key.revoke', 'management_key.revoke') AND k.revoked_at IS NOT NULL
    AND ${place}(a.value_after, '"revoked_at":"') > 0
    AND ${place}(a.value_after, '"revoked_at":"' || coalesce(${printed("k.revoked_at")}, '') || '"') = 0`;

/** The kinds of entries that record each of them. */
const KINDS = {
  topup: "'purchase', 'grant'",
  reversal: "'chargeback', 'chargeback_debt', 'refund'",
} as const;

/**
 * Compares the balance recorded with each credit with the balance that its entries left. If the same
 * transaction moved something for requests, the order of the entries differs from that of the decisions,
 * and nothing is compared. `reference` is the SQL for the reference of the entries of row `c`.
 */
export const wrongBalances = (table: keyof typeof KINDS, reference: string): string => `
  WITH booked AS MATERIALIZED (
    SELECT org_id, slot, version, txn, reference, available_after FROM ledger_entry WHERE kind IN (${KINDS[table]})),
  mixed AS MATERIALIZED (
    SELECT DISTINCT b.org_id, b.txn FROM ledger_entry CROSS JOIN booked b
    WHERE b.org_id = ledger_entry.org_id AND b.txn = ledger_entry.txn AND ledger_entry.reference IS NULL)
  SELECT org_id, external_id, CAST(expected AS text), CAST(balance_after AS text) FROM (
    SELECT c.org_id, c.external_id, c.balance_after, coalesce(paid.available_after, e.available_after) AS expected
    FROM ${table} c
    JOIN booked e ON e.org_id = c.org_id AND e.txn = c.txn AND e.reference = ${reference}
    LEFT JOIN ledger_entry paid ON paid.org_id = e.org_id AND paid.slot = e.slot AND paid.version = e.version + 1
      AND paid.txn = e.txn AND paid.kind = 'debt_paid' AND paid.reference = e.reference
    LEFT JOIN mixed m ON m.org_id = c.org_id AND m.txn = c.txn
    WHERE m.txn IS NULL
  ) AS credits WHERE expected <> balance_after`;
