// Figures that must agree between tables (I3–I6, I10, I14–I17, I19, I20 of money.md §5). Each check is one query that returns
// the rows that do not agree: organization, request, expected, found.
import type { Database } from "bun:sqlite";
import { type Booked, ENDED, instantsOf } from "../booked.ts";
import type { Findings } from "../findings.ts";
import { type Cell, int, textOrNull } from "../../cell.ts";
import { saturatedSum } from "../../sqlite/saturated-sum.ts";
import { movedEnds, REVIVED_KEYS, wrongBalances } from "../told-elsewhere.ts";
import { UNMARKED, WRONGLY_COUNTED } from "../../rate-running.ts";
import { WRITTEN_TOKENS } from "../../../store/written-tokens.ts";

interface Check {
  invariant: string;
  /** One number: rows that it looks at. */
  rows: string;
  /** Rows that violate it. `?1` is the time of the verification. */
  violations: string;
}

const WRITTEN = WRITTEN_TOKENS.sqlite;

const CHECKS: readonly Check[] = [
  {
    invariant: "I5 whoever has entries has a balance, at which their chain ends",
    rows: "SELECT count(*) FROM organization",
    violations: `
      SELECT o.org_id, NULL, 'a balance', 'none' FROM organization o LEFT JOIN org_balance b ON b.org_id = o.org_id AND b.slot = 0
      WHERE b.org_id IS NULL
      UNION ALL
      SELECT e.org_id, NULL, 'an organization, and slot 0', 'slot ' || e.slot FROM (
        SELECT DISTINCT org_id, slot FROM ledger_entry UNION SELECT org_id, slot FROM org_balance) e
      LEFT JOIN organization o USING (org_id) WHERE o.org_id IS NULL OR e.slot <> 0`,
  },
  {
    invariant: "I3 held = unfinished holds",
    rows: "SELECT count(*) FROM org_balance",
    violations: `
      SELECT b.org_id, NULL, (SELECT ${saturatedSum("hold")} FROM request r WHERE r.org_id = b.org_id AND r.state = 'dispatched') AS expected, b.held AS found
      FROM org_balance b WHERE expected <> found`,
  },
  {
    invariant: "I4 month = requests of key and month",
    rows: "SELECT count(*) FROM key_month",
    violations: `
      WITH sums AS (
        SELECT org_id, key_id, month, ${saturatedSum("CASE WHEN state = 'dispatched' THEN hold ELSE 0 END")} AS held, ${saturatedSum("charge")} AS spent
        FROM request GROUP BY org_id, key_id, month)
      SELECT m.org_id, m.key_id, ifnull(s.held, 0) || '/' || ifnull(s.spent, 0) AS expected, m.held || '/' || m.spent AS found
      FROM key_month m LEFT JOIN sums s USING (org_id, key_id, month) WHERE expected <> found
      UNION ALL
      SELECT s.org_id, s.key_id, s.held || '/' || s.spent, 'no row' FROM sums s LEFT JOIN key_month m USING (org_id, key_id, month) WHERE m.org_id IS NULL`,
  },
  {
    invariant: "I4 a month is of a key of its organization",
    rows: "SELECT count(*) FROM key_month",
    violations: `
      SELECT m.org_id, NULL, m.key_id, 'no key' FROM key_month m LEFT JOIN api_key k USING (org_id, key_id) WHERE k.key_id IS NULL`,
  },
  {
    invariant: "I4 a noted hold is a request of its key",
    rows: "SELECT count(*) FROM key_hold",
    violations: `
      SELECT h.org_id, h.request_id, h.key_id AS expected, ifnull(r.key_id, 'no request') AS found
      FROM key_hold h LEFT JOIN request r USING (org_id, request_id) WHERE expected <> found`,
  },
  {
    invariant: "I6 each hold has its entry",
    rows: "SELECT count(*) FROM request",
    violations: entriesOfTransaction("hold", {
      txn: "opened_txn",
      at: "admitted_at",
      amount: "hold + lowered",
      which: "1",
    }),
  },
  {
    invariant: "I6 each lowered hold has its entry",
    rows: "SELECT count(*) FROM request WHERE lowered_txn IS NOT NULL",
    violations: entriesOfTransaction("lower", {
      txn: "lowered_txn",
      at: null,
      amount: "lowered",
      which: "lowered_txn IS NOT NULL",
    }),
  },
  {
    invariant: "I6 each settled request has one charge",
    rows: "SELECT count(*) FROM request WHERE state = 'settled'",
    violations: entriesOfTransaction("charge", { ...ENDED, amount: "charge", which: "state = 'settled'" }),
  },
  {
    invariant: "I6 each settled request returns its rest once",
    rows: "SELECT count(*) FROM request WHERE state = 'settled'",
    violations: entriesOfTransaction("rest", {
      ...ENDED,
      amount: "hold - charge",
      which: "state = 'settled'",
    }),
  },
  {
    invariant: "I6 each released request is voided once",
    rows: "SELECT count(*) FROM request WHERE state = 'released'",
    violations: entriesOfTransaction("void", { ...ENDED, amount: "hold", which: "state = 'released'" }),
  },
  {
    invariant: "I6 variance has its entry",
    rows: "SELECT count(*) FROM request WHERE variance > 0",
    violations: entriesOfTransaction("variance", {
      ...ENDED,
      amount: "variance",
      which: "state = 'settled'",
    }),
  },
  {
    invariant: "I10 a claim points to a request of its own key",
    rows: "SELECT count(*) FROM claim",
    violations: `
      SELECT c.org_id, c.request_id, c.key_id || ' ' || c.idem_key AS expected, ifnull(r.key_id || ' ' || r.idem_key, 'no request') AS found
      FROM claim c LEFT JOIN request r USING (org_id, request_id) WHERE expected <> found`,
  },
  {
    invariant: "I10 one unfinished or settled request per claim",
    rows: "SELECT count(*) FROM request WHERE idem_key IS NOT NULL",
    violations: `
      SELECT org_id, request_id, 'admitted from ' || before_until, admitted_at FROM (
        SELECT org_id, request_id, admitted_at,
          max(ifnull(claim_until, 9223372036854775807)) OVER (PARTITION BY org_id, key_id, idem_key ORDER BY admitted_at, request_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_until
        FROM request WHERE idem_key IS NOT NULL AND state <> 'released')
      WHERE admitted_at < before_until`,
  },
  {
    invariant: "I14 usage = settled requests",
    rows: "SELECT count(*) FROM usage_hour",
    violations: `
      WITH settled AS (
        SELECT org_id, key_id, model, admitted_at / 3600000 AS hour, ifnull(cached_tokens, 0) AS cached, ${WRITTEN} AS written, charge,
          CASE WHEN variance > 0 THEN min(prompt_tokens, prompt_bound) ELSE prompt_tokens END AS input,
          CASE WHEN variance > 0 THEN min(completion_tokens, output_bound) ELSE completion_tokens END AS output
        FROM request WHERE state = 'settled'),
      sums AS (
        SELECT org_id, key_id, model, hour, count(*) AS requests,
          ${saturatedSum("input")} AS input, ${saturatedSum("min(cached, input)")} AS cached,
          ${saturatedSum("min(written, input)")} AS written, ${saturatedSum("output")} AS output, ${saturatedSum("charge")} AS charge
        FROM settled GROUP BY 1, 2, 3, 4)
      SELECT s.org_id, s.key_id,
        s.requests || '/' || s.input || '/' || s.cached || '/' || s.written || '/' || s.output || '/' || s.charge AS expected,
        ifnull(u.requests || '/' || u.input_tokens || '/' || u.cached_tokens || '/' || u.cache_write_tokens || '/' ||
          u.output_tokens || '/' || u.charge, 'no row') AS found
      FROM sums s LEFT JOIN usage_hour u USING (org_id, key_id, model, hour) WHERE expected <> found
      UNION ALL
      SELECT u.org_id, u.key_id, 'no row', u.requests FROM usage_hour u LEFT JOIN sums s USING (org_id, key_id, model, hour) WHERE s.org_id IS NULL`,
  },
  {
    invariant: "I15 no request after its key's revocation",
    rows: "SELECT count(*) FROM api_key WHERE revoked_at IS NOT NULL",
    violations: `
      SELECT r.org_id, r.request_id, 'before ' || k.revoked_at, r.admitted_at FROM api_key k
      JOIN request r ON r.org_id = k.org_id AND r.key_id = k.key_id
      WHERE k.revoked_at IS NOT NULL AND r.admitted_at > k.revoked_at`,
  },
  {
    invariant: "I15 a key that ended stays so",
    rows: "SELECT count(*) FROM api_key",
    violations: REVIVED_KEYS,
  },
  {
    invariant: "I15 a key ended when the audit log says",
    rows: "SELECT count(*) FROM api_key WHERE revoked_at IS NOT NULL",
    violations: movedEnds(
      "instr",
      (ms) => `(strftime('%Y-%m-%dT%H:%M:%S', ${ms} / 1000, 'unixepoch') || printf('.%03dZ', ${ms} % 1000))`,
    ),
  },
  {
    invariant: "I15 research requests have a valid entitlement",
    rows: "SELECT count(*) FROM request WHERE tier = 'research'",
    violations: `
      SELECT r.org_id, r.request_id, 'an entitlement for ' || r.model, 'none' FROM request r
      WHERE r.tier = 'research' AND NOT EXISTS (
        SELECT 1 FROM entitlement e WHERE e.org_id = r.org_id AND e.model = r.model AND e.approved_at IS NOT NULL
          AND e.approved_at <= r.admitted_at AND r.admitted_at < e.expires_at
          AND (e.revoked_at IS NULL OR r.admitted_at <= e.revoked_at))`,
  },
  {
    invariant: "I16 each top-up has exactly one entry",
    rows: "SELECT count(*) FROM topup",
    violations: `
      SELECT t.org_id, t.external_id, '1 of ' || t.amount || ' at ' || t.at AS expected,
        (SELECT count(*) || ' of ' || ${saturatedSum("e.amount")} || ' at ' || ifnull(max(e.at), '?') FROM ledger_entry e WHERE e.org_id = t.org_id AND e.txn = t.txn
          AND e.kind = t.kind AND e.reference = json_array(t.source, t.external_id)) AS found
      FROM topup t WHERE expected <> found
      UNION ALL
      SELECT e.org_id, e.reference, 1, 0 FROM ledger_entry e WHERE e.kind IN ('purchase', 'grant')
        AND NOT EXISTS (SELECT 1 FROM topup t WHERE t.org_id = e.org_id AND t.txn = e.txn AND t.kind = e.kind
          AND json_array(t.source, t.external_id) = e.reference)`,
  },
  {
    invariant: "I16 each reversal has its entries",
    rows: "SELECT count(*) FROM reversal",
    violations: `
      SELECT r.org_id, r.external_id, r.amount || ' at ' || r.at AS expected,
        (SELECT ${saturatedSum("e.amount")} || ' at ' || ifnull(max(e.at), '?') FROM ledger_entry e WHERE e.org_id = r.org_id AND e.txn = r.txn
          AND e.kind IN ('chargeback', 'chargeback_debt', 'refund')
          AND e.reference = json_array(r.source, r.external_id)) AS found
      FROM reversal r WHERE expected <> found
      UNION ALL
      SELECT e.org_id, e.reference, 0, e.amount FROM ledger_entry e
      WHERE e.kind IN ('chargeback', 'chargeback_debt', 'refund')
        AND NOT EXISTS (SELECT 1 FROM reversal r WHERE r.org_id = e.org_id AND r.txn = e.txn
          AND json_array(r.source, r.external_id) = e.reference)`,
  },
  {
    invariant: "I16 each top-up says the balance after it",
    rows: "SELECT count(*) FROM topup",
    violations: wrongBalances("topup", "json_array(c.source, c.external_id)"),
  },
  {
    invariant: "I16 each reversal says the balance after it",
    rows: "SELECT count(*) FROM reversal",
    violations: wrongBalances("reversal", "json_array(c.source, c.external_id)"),
  },
  {
    invariant: "I16 no request is refunded more than it cost",
    rows: "SELECT count(*) FROM reversal WHERE kind = 'refund'",
    violations: `
      SELECT v.org_id, v.target, ifnull(max(r.charge), 0) AS expected, ${saturatedSum("v.amount")} AS found
      FROM reversal v LEFT JOIN request r ON r.org_id = v.org_id AND r.request_id = v.target
      WHERE v.kind = 'refund' GROUP BY v.org_id, v.target HAVING found > expected`,
  },
  {
    invariant: "I17 no stored answer past its time",
    rows: "SELECT count(*) FROM result",
    violations: "SELECT org_id, request_id, expires_at, ?1 FROM result WHERE expires_at + 3600000 < ?1",
  },
  {
    invariant: "I19 a limit counts what runs",
    rows: "SELECT count(*) FROM rate_limit",
    violations: `SELECT org_id, key_id || ' ' || model, found, running FROM (${WRONGLY_COUNTED.sqlite})`,
  },
  {
    invariant: "I19 whose limits there are is marked",
    rows: "SELECT count(*) FROM rate_limit",
    violations: UNMARKED,
  },
  {
    invariant: "I20 a route's highest version is its newest release's",
    rows: "SELECT count(*) FROM route_state",
    violations: `
      WITH newest AS (SELECT route, max(version) AS version FROM route_release GROUP BY 1)
      SELECT NULL, s.route, ifnull(n.version, 'no release') AS expected, s.highest_version AS found
      FROM route_state s LEFT JOIN newest n USING (route) WHERE expected <> found
      UNION ALL
      SELECT NULL, n.route, n.version, 'no row' FROM newest n LEFT JOIN route_state s USING (route) WHERE s.route IS NULL`,
  },
];

/** Entries of a kind against the requests that name their transaction: count, sum and time, both ways. Zero amounts have no entry. */
function entriesOfTransaction(kind: string, { txn, at, amount, which }: Booked): string {
  return `
    WITH asked AS (
      SELECT org_id, ${txn} AS txn, ${saturatedSum(amount)} AS amount, count(*) AS requests, ${instantsOf(at)} AS at
      FROM request WHERE ${which} AND ${amount} > 0 GROUP BY 1, 2),
    booked AS (
      SELECT org_id, txn, ${saturatedSum("amount")} AS amount, ${saturatedSum("requests")} AS requests, ${instantsOf(at && "at")} AS at
      FROM ledger_entry WHERE kind = '${kind}' GROUP BY 1, 2)
    SELECT a.org_id, NULL, a.requests || ' of ' || a.amount || ' at ' || ifnull(a.at, '?') AS expected,
      ifnull(b.requests || ' of ' || b.amount || ' at ' || b.at, 'no entry') AS found
    FROM asked a LEFT JOIN booked b USING (org_id, txn) WHERE expected <> found
    UNION ALL
    SELECT b.org_id, NULL, 'no entry', b.requests || ' of ' || b.amount FROM booked b LEFT JOIN asked a USING (org_id, txn) WHERE a.org_id IS NULL`;
}

export function checkSums(database: Database, findings: Findings, nowMs: number): void {
  for (const { invariant, rows, violations } of CHECKS) {
    findings.checkedRows(invariant, int(database.query(rows).values()[0]?.[0] as Cell));
    const query = database.query(violations);
    const found = (violations.includes("?1") ? query.values(nowMs) : query.values()) as Cell[][];
    for (const [organizationId, requestId, expected, actual] of found)
      findings.violated(invariant, {
        organizationId: textOrNull(organizationId),
        requestId: textOrNull(requestId),
        expected: String(expected),
        found: String(actual),
      });
    findings.took(invariant);
  }
}
