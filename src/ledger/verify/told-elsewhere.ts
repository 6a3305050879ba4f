// What a row says beside what other rows told of it when it happened (I15, I16 of money.md §5): queries for both stores, of
// organization, what it is about, expected, found; only of rows that do not agree.

/** Keys, management keys too, whose end is in the audit log, for ever, and which are not revoked. */
export const REVIVED_KEYS = `
  SELECT k.org_id, NULL, 'revoked: ' || k.key_id, 'in use or paused' FROM api_key k
  WHERE (k.revoked_at IS NULL OR k.paused_at IS NOT NULL)
    AND k.key_id IN (SELECT target FROM audit_log WHERE action IN ('key.revoke', 'key.expire'))
  UNION ALL
  SELECT NULL, NULL, 'revoked: ' || m.id, 'in use' FROM management_key m
  WHERE m.revoked_at IS NULL AND m.id IN (SELECT target FROM audit_log WHERE action = 'management_key.revoke')`;

/** How a store finds an instant in a line of the audit log. */
export interface PrintedEnds {
  /** Its function that finds a text in another one, 0 where it is not there. */
  place: string;
  /** The SQL of an instant, of milliseconds, as the log prints it. */
  printed: (ms: string) => string;
}

/**
 * Keys, management keys too, that were revoked at another instant than the audit log told: later, and requests that came after its
 * end look as if they came before. A key whose time was over tells no such instant.
 */
export const movedEnds = ({ place, printed }: PrintedEnds): string => `
  SELECT a.org_id, NULL, a.target || ': ' || a.value_after, coalesce(${printed("k.revoked_at")}, 'no time')
  FROM audit_log a JOIN (
    SELECT key_id, revoked_at FROM api_key UNION ALL SELECT id, revoked_at FROM management_key) k ON k.key_id = a.target
  WHERE a.action IN ('key.revoke', 'management_key.revoke') AND k.revoked_at IS NOT NULL
    AND ${place}(a.value_after, '"revoked_at":"') > 0
    AND ${place}(a.value_after, '"revoked_at":"' || coalesce(${printed("k.revoked_at")}, '') || '"') = 0`;

/** Kinds of the entries by which each came. */
const KINDS = {
  topup: "'purchase', 'grant'",
  reversal: "'chargeback', 'chargeback_debt', 'refund'",
} as const;

/**
 * Balances that credits were said to leave, against those that their entries left. Where the same transaction moved something for
 * requests, entries stand in another order than they were decided in, and nothing is compared. `reference`: that of the entries, of
 * the row `c`, in SQL.
 */
export const wrongBalances = (table: keyof typeof KINDS, reference: string): string => `
  SELECT org_id, external_id, CAST(expected AS text), CAST(balance_after AS text) FROM (
    SELECT c.org_id, c.external_id, c.balance_after, coalesce(paid.available_after, e.available_after) AS expected
    FROM ${table} c
    JOIN ledger_entry e ON e.org_id = c.org_id AND e.txn = c.txn AND e.kind IN (${KINDS[table]}) AND e.reference = ${reference}
    LEFT JOIN ledger_entry paid ON paid.org_id = e.org_id AND paid.slot = e.slot AND paid.version = e.version + 1
      AND paid.txn = e.txn AND paid.kind = 'debt_paid' AND paid.reference = e.reference
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_entry o WHERE o.org_id = c.org_id AND o.txn = c.txn AND o.reference IS NULL)
  ) AS credits WHERE expected <> balance_after`;
