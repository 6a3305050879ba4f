// Figures that must agree between tables, on PostgreSQL (I3–I6, I10, I14–I17, I19, I20 of money.md §5). Each check is one
// query of rows (organization, request, expected, found); those whose last two differ are violations.
import { type Booked, ENDED, instantsOf } from "../booked.ts";
import type { Findings } from "../findings.ts";
import { int, textOrNull } from "../../cell.ts";
import { type Asking, askOnce } from "../../postgres/query.ts";
import { movedEnds, REVIVED_KEYS, wrongBalances } from "../told-elsewhere.ts";
import { UNMARKED, WRONGLY_COUNTED } from "../../rate-running.ts";
import { WRITTEN_TOKENS } from "../../../store/written-tokens.ts";

interface Check {
  invariant: string;
  /** One number: rows that it looks at. */
  rows: string;
  /** Rows `org, about, expected, found`, as text. `{now}` is the time of the verification. */
  compared: string;
}

const UNFINISHED = "state IN ('admitted', 'dispatched')";

/** As postings have it: nothing that is stored is parsed here, which would fail the verification over one row. */
const referenceOf = (row: "c" | "r" | "t"): string =>
  `'[' || to_json(${row}.source)::text || ',' || to_json(${row}.external_id)::text || ']'`;
/** The last hour that is asked for by its date, in the year 9955. */
const LAST_HOUR = 70_000_000;

const WRITTEN = WRITTEN_TOKENS.postgresql;

const CHECKS: readonly Check[] = [
  {
    invariant: "I5 whoever has entries has a balance, at which their chain ends",
    rows: "SELECT count(*) FROM organization",
    compared: `
      SELECT o.org_id, NULL, 'a balance', 'none' FROM organization o LEFT JOIN org_balance b ON b.org_id = o.org_id AND b.slot = 0
      WHERE b.org_id IS NULL
      UNION ALL
      SELECT e.org_id, NULL, 'an organization, and slot 0', 'slot ' || e.slot FROM (
        SELECT DISTINCT org_id, slot FROM ledger_entry UNION SELECT org_id, slot FROM org_balance) AS e
      LEFT JOIN organization o USING (org_id) WHERE o.org_id IS NULL OR e.slot <> 0`,
  },
  {
    invariant: "I3 held = unfinished holds",
    rows: "SELECT count(*) FROM org_balance",
    compared: `
      SELECT b.org_id, NULL, coalesce(r.holds, 0)::text, b.held::text FROM org_balance b
      LEFT JOIN (SELECT org_id, sum(hold) AS holds FROM request WHERE ${UNFINISHED} GROUP BY 1) r USING (org_id)`,
  },
  {
    invariant: "I4 month = requests of key and month",
    rows: "SELECT count(*) FROM key_month",
    compared: `
      WITH sums AS (
        SELECT org_id, key_id, month, sum(CASE WHEN ${UNFINISHED} THEN hold ELSE 0 END) AS held, sum(charge) AS spent
        FROM request GROUP BY 1, 2, 3)
      SELECT org_id, key_id, coalesce(s.held, 0) || '/' || coalesce(s.spent, 0),
        coalesce(m.held || '/' || m.spent, 'no row')
      FROM key_month m FULL JOIN sums s USING (org_id, key_id, month)`,
  },
  {
    invariant: "I4 a month is of a key of its organization",
    rows: "SELECT count(*) FROM key_month",
    compared: `
      SELECT m.org_id, NULL, m.key_id, coalesce(k.key_id, 'no key') FROM key_month m LEFT JOIN api_key k USING (org_id, key_id)`,
  },
  {
    invariant: "I4 a noted hold is a request of its key",
    rows: "SELECT count(*) FROM key_hold",
    compared: `
      SELECT h.org_id, h.request_id, h.key_id, coalesce(r.key_id, 'no request')
      FROM key_hold h LEFT JOIN request r USING (org_id, request_id)`,
  },
  {
    invariant: "I6 each hold has its entry",
    rows: "SELECT count(*) FROM request",
    compared: entriesOfTransaction("hold", {
      txn: "opened_txn",
      at: "admitted_at",
      amount: "(hold::numeric + lowered)",
      which: "true",
    }),
  },
  {
    invariant: "I6 each lowered hold has its entry",
    rows: "SELECT count(*) FROM request WHERE lowered_txn IS NOT NULL",
    compared: entriesOfTransaction("lower", {
      txn: "lowered_txn",
      at: null,
      amount: "lowered",
      which: "lowered_txn IS NOT NULL",
    }),
  },
  {
    invariant: "I6 each settled request has one charge",
    rows: "SELECT count(*) FROM request WHERE state = 'settled'",
    compared: entriesOfTransaction("charge", {
      ...ENDED,
      amount: "charge",
      which: "state = 'settled'",
    }),
  },
  {
    invariant: "I6 each settled request returns its rest once",
    rows: "SELECT count(*) FROM request WHERE state = 'settled'",
    compared: entriesOfTransaction("rest", {
      ...ENDED,
      amount: "(hold::numeric - charge)",
      which: "state = 'settled'",
    }),
  },
  {
    invariant: "I6 each released request is voided once",
    rows: "SELECT count(*) FROM request WHERE state = 'released'",
    compared: entriesOfTransaction("void", {
      ...ENDED,
      amount: "hold",
      which: "state = 'released'",
    }),
  },
  {
    invariant: "I6 variance has its entry",
    rows: "SELECT count(*) FROM request WHERE variance > 0",
    compared: entriesOfTransaction("variance", {
      ...ENDED,
      amount: "variance",
      which: "state = 'settled'",
    }),
  },
  {
    invariant: "I10 a claim points to a request of its own key",
    rows: "SELECT count(*) FROM claim",
    compared: `
      SELECT c.org_id, c.request_id, c.key_id || ' ' || c.idem_key, coalesce(r.key_id || ' ' || r.idem_key, 'no request')
      FROM claim c LEFT JOIN request r USING (org_id, request_id)`,
  },
  {
    invariant: "I10 one unfinished or settled request per claim",
    rows: "SELECT count(*) FROM request WHERE idem_key IS NOT NULL",
    compared: `
      SELECT org_id, request_id, 'admitted from ' || before_until, 'admitted at ' || admitted_at FROM (
        SELECT org_id, request_id, admitted_at,
          max(coalesce(claim_until, 9223372036854775807)) OVER (PARTITION BY org_id, key_id, idem_key
            ORDER BY admitted_at, request_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_until
        FROM request WHERE idem_key IS NOT NULL AND state <> 'released') AS claimed
      WHERE admitted_at < before_until`,
  },
  {
    // What was dropped with its month is not asked for; usage_hour_other is never dropped.
    invariant: "I14 usage = settled requests",
    rows: "SELECT count(*) FROM usage_hour",
    compared: `
      WITH kept AS (
        SELECT coalesce(min(substring(relname FROM 'usage_hour_(.*)$')), '0000_00') AS from_month
        FROM pg_class WHERE relkind = 'r' AND relname ~ '^usage_hour_[0-9]{4}_[0-9]{2}$'),
      settled AS (
        SELECT org_id, key_id, model, admitted_at / 3600000 AS hour, coalesce(cached_tokens, 0) AS cached, ${WRITTEN} AS written, charge,
          CASE WHEN variance > 0 THEN least(prompt_tokens, prompt_bound) ELSE prompt_tokens END AS input,
          CASE WHEN variance > 0 THEN least(completion_tokens, output_bound) ELSE completion_tokens END AS output
        FROM request WHERE state = 'settled'),
      sums AS (
        SELECT org_id, key_id, model, hour, count(*) AS requests,
          least(9223372036854775807, sum(input)) AS input, least(9223372036854775807, sum(least(cached, input))) AS cached,
          least(9223372036854775807, sum(least(written, input))) AS written,
          least(9223372036854775807, sum(output)) AS output, sum(charge) AS charge
        FROM settled GROUP BY 1, 2, 3, 4)
      SELECT org_id, key_id,
        coalesce(s.requests || '/' || s.input || '/' || s.cached || '/' || s.written || '/' || s.output || '/' || s.charge, 'no row'),
        coalesce(u.requests || '/' || u.input_tokens || '/' || u.cached_tokens || '/' || u.cache_write_tokens || '/' ||
          u.output_tokens || '/' || u.charge, 'no row')
      FROM sums s FULL JOIN usage_hour u USING (org_id, key_id, model, hour), kept
      WHERE u.org_id IS NOT NULL
        OR to_char(to_timestamp(least(greatest(hour, 0), ${LAST_HOUR}) * 3600) AT TIME ZONE 'UTC', 'YYYY_MM') >= kept.from_month`,
  },
  {
    invariant: "I15 no request after its key's revocation",
    rows: "SELECT count(*) FROM api_key WHERE revoked_at IS NOT NULL",
    compared: `
      SELECT r.org_id, r.request_id, 'before ' || k.revoked_at, r.admitted_at::text FROM api_key k
      JOIN request r ON r.org_id = k.org_id AND r.key_id = k.key_id
      WHERE k.revoked_at IS NOT NULL AND r.admitted_at > k.revoked_at`,
  },
  {
    invariant: "I15 a key that ended stays so",
    rows: "SELECT count(*) FROM api_key",
    compared: REVIVED_KEYS,
  },
  {
    invariant: "I15 a key ended when the audit log says",
    rows: "SELECT count(*) FROM api_key WHERE revoked_at IS NOT NULL",
    compared: movedEnds(
      "strpos",
      (ms) =>
        `(CASE WHEN ${ms} / 3600000 BETWEEN 0 AND ${LAST_HOUR} THEN to_char(to_timestamp(${ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
          || '.' || lpad((${ms} % 1000)::text, 3, '0') || 'Z' END)`,
    ),
  },
  {
    invariant: "I15 research requests have a valid entitlement",
    rows: "SELECT count(*) FROM request WHERE tier = 'research'",
    compared: `
      SELECT r.org_id, r.request_id, 'an entitlement for ' || r.model, 'none' FROM request r
      WHERE r.tier = 'research' AND NOT EXISTS (
        SELECT 1 FROM entitlement e WHERE e.org_id = r.org_id AND e.model = r.model AND e.approved_at IS NOT NULL
          AND e.approved_at <= r.admitted_at AND r.admitted_at < e.expires_at
          AND (e.revoked_at IS NULL OR r.admitted_at <= e.revoked_at))`,
  },
  {
    invariant: "I16 each top-up has exactly one entry",
    rows: "SELECT count(*) FROM topup",
    compared: `
      SELECT t.org_id, t.external_id, '1 of ' || t.amount || ' at ' || t.at,
        (SELECT count(*) || ' of ' || coalesce(sum(e.amount), 0) || ' at ' || coalesce(max(e.at)::text, '?') FROM ledger_entry e
          WHERE e.org_id = t.org_id AND e.txn = t.txn AND e.kind = t.kind AND e.reference = ${referenceOf("t")})
      FROM topup t
      UNION ALL
      SELECT e.org_id, e.reference, '1', '0' FROM ledger_entry e WHERE e.kind IN ('purchase', 'grant')
        AND NOT EXISTS (SELECT 1 FROM topup t WHERE t.org_id = e.org_id AND t.txn = e.txn AND t.kind = e.kind
          AND ${referenceOf("t")} = e.reference)`,
  },
  {
    invariant: "I16 each reversal has its entries",
    rows: "SELECT count(*) FROM reversal",
    compared: `
      SELECT r.org_id, r.external_id, r.amount || ' at ' || r.at,
        (SELECT coalesce(sum(e.amount), 0) || ' at ' || coalesce(max(e.at)::text, '?') FROM ledger_entry e WHERE e.org_id = r.org_id AND e.txn = r.txn
          AND e.kind IN ('chargeback', 'chargeback_debt', 'refund')
          AND e.reference = ${referenceOf("r")})
      FROM reversal r
      UNION ALL
      SELECT e.org_id, e.reference, '0', e.amount::text FROM ledger_entry e
      WHERE e.kind IN ('chargeback', 'chargeback_debt', 'refund')
        AND NOT EXISTS (SELECT 1 FROM reversal r WHERE r.org_id = e.org_id AND r.txn = e.txn
          AND ${referenceOf("r")} = e.reference)`,
  },
  {
    invariant: "I16 each top-up says the balance after it",
    rows: "SELECT count(*) FROM topup",
    compared: wrongBalances("topup", referenceOf("c")),
  },
  {
    invariant: "I16 each reversal says the balance after it",
    rows: "SELECT count(*) FROM reversal",
    compared: wrongBalances("reversal", referenceOf("c")),
  },
  {
    invariant: "I16 no request is refunded more than it cost",
    rows: "SELECT count(*) FROM reversal WHERE kind = 'refund'",
    compared: `
      SELECT org_id, target, 'at most ' || cost, 'refunded ' || refunded FROM (
        SELECT v.org_id, v.target, coalesce(max(r.charge), 0) AS cost, sum(v.amount) AS refunded
        FROM reversal v LEFT JOIN request r ON r.org_id = v.org_id AND r.request_id = v.target
        WHERE v.kind = 'refund' GROUP BY 1, 2) AS sums WHERE refunded > cost`,
  },
  {
    invariant: "I17 no stored answer past its time",
    rows: "SELECT count(*) FROM result",
    compared: `
      SELECT org_id, request_id, expires_at::text, '{now}' FROM result WHERE expires_at < {now} - 3600000`,
  },
  {
    invariant: "I19 a limit counts what runs",
    rows: "SELECT count(*) FROM rate_limit",
    compared: `SELECT org_id, key_id || ' ' || model, found::text, running::text FROM (${WRONGLY_COUNTED.postgresql}) AS wrong`,
  },
  {
    invariant: "I19 whose limits there are is marked",
    rows: "SELECT count(*) FROM rate_limit",
    compared: UNMARKED,
  },
  {
    invariant: "I20 a route's highest version is its newest release's",
    rows: "SELECT count(*) FROM route_state",
    compared: `
      WITH newest AS (SELECT route, max(version) AS version FROM route_release GROUP BY 1)
      SELECT NULL, route, coalesce(n.version::text, 'no release'), coalesce(s.highest_version::text, 'no row')
      FROM route_state s FULL JOIN newest n USING (route)`,
  },
];

/** Entries of a kind against the requests that name their transaction: count, sum and time, both ways. Zero amounts have no entry. */
function entriesOfTransaction(kind: string, { txn, at, amount, which }: Booked): string {
  return `
    WITH asked AS (
      SELECT org_id, ${txn} AS txn, sum(${amount}) AS amount, count(*) AS requests, ${instantsOf(at)} AS at
      FROM request WHERE ${which} AND ${amount} > 0 GROUP BY 1, 2),
    booked AS (
      SELECT org_id, txn, sum(amount) AS amount, sum(requests) AS requests, ${instantsOf(at && "at")} AS at
      FROM ledger_entry WHERE kind = '${kind}' GROUP BY 1, 2)
    SELECT org_id, NULL, coalesce(a.requests || ' of ' || a.amount || ' at ' || coalesce(a.at, '?'), 'no entry'),
      coalesce(b.requests || ' of ' || b.amount || ' at ' || b.at, 'no entry')
    FROM asked a FULL JOIN booked b USING (org_id, txn)`;
}

export async function checkSums(on: Asking, findings: Findings, nowMs: number): Promise<void> {
  for (const { invariant, rows, compared } of CHECKS) {
    const [[count] = []] = await askOnce(on, rows);
    findings.checkedRows(invariant, int(count));
    const now = String(Math.floor(nowMs));
    const differing = await askOnce(
      on,
      `SELECT org, about, expected, found FROM (${compared.replaceAll("{now}", now)})
       AS compared (org, about, expected, found) WHERE expected IS DISTINCT FROM found`,
    );
    for (const [organizationId, requestId, expected, found] of differing)
      findings.violated(invariant, {
        organizationId: textOrNull(organizationId),
        requestId: textOrNull(requestId),
        expected: String(expected),
        found: String(found),
      });
    findings.took(invariant);
  }
}
