// Figures that must agree between tables (I3–I6, I10, I14–I17, I19, I20 of money.md §5). Each check is one query that returns
// (organization, what it is about, expected, found); rows whose last two differ are violations. Queries that are the same on
// both stores are here; each store supplies the rest (`sqlite/sums.ts`, `postgres/sums.ts`), and none may be left out.
import { ask, type SqlDialect, numberOf, type Query } from "../../store/sql.ts";
import { type Cell, textOrNull } from "../cell.ts";
import { UNMARKED, WRONGLY_COUNTED } from "../rate-running.ts";
import type { Findings } from "./findings.ts";
import { movedEnds, type PrintedEnds, REVIVED_KEYS, wrongBalances } from "./told-elsewhere.ts";

/** Every check in order: what must hold, and the rows that it covers. */
const CHECKS = {
  chainEnds: ["I5 each organization with entries has a balance, at which its chain ends", "organization"],
  held: ["I3 held = unfinished holds", "org_balance"],
  months: ["I4 month = requests of key and month", "key_month"],
  monthKeys: ["I4 each month belongs to a key of its organization", "key_month"],
  notedHolds: ["I4 each noted hold belongs to a request of its key", "key_hold"],
  hold: ["I6 each hold has its entry", "request"],
  lower: ["I6 each lowered hold has its entry", "request WHERE lowered_txn IS NOT NULL"],
  charge: ["I6 each settled request has one charge", "request WHERE state = 'settled'"],
  rest: ["I6 each settled request returns its rest once", "request WHERE state = 'settled'"],
  void: ["I6 each released request is voided once", "request WHERE state = 'released'"],
  variance: ["I6 variance has its entry", "request WHERE variance > 0"],
  claims: ["I10 a claim points to a request of its own key", "claim"],
  claimed: ["I10 one unfinished or settled request per claim", "request WHERE idem_key IS NOT NULL"],
  usage: ["I14 usage = settled requests", "usage_hour"],
  lateRequests: ["I15 no request after its key's revocation", "api_key WHERE revoked_at IS NOT NULL"],
  revivedKeys: ["I15 a key that ended stays ended", "api_key"],
  movedEnds: ["I15 a key ended at the time in the audit log", "api_key WHERE revoked_at IS NOT NULL"],
  entitled: ["I15 research requests have a valid entitlement", "request WHERE tier = 'research'"],
  topUps: ["I16 each top-up has exactly one entry", "topup"],
  reversals: ["I16 each reversal has its entries", "reversal"],
  topUpBalances: ["I16 each top-up records the balance after it", "topup"],
  reversalBalances: ["I16 each reversal records the balance after it", "reversal"],
  refunds: ["I16 no request is refunded more than it cost", "reversal WHERE kind = 'refund'"],
  answers: ["I17 no stored answer past its time", "result"],
  running: ["I19 a limit counts what runs", "rate_limit"],
  marked: ["I19 every organization with limits is marked", "rate_limit"],
  versions: ["I20 a route's highest version is its newest release's", "route_state"],
} as const satisfies Record<string, readonly [invariant: string, rows: string]>;

type Name = keyof typeof CHECKS;
type EntryKind = "hold" | "lower" | "charge" | "rest" | "void" | "variance";
/** A query for each check; `?1` is the time of the verification. */
export type Compared = Readonly<Record<Name, string>>;
/** The checks that each store writes in its own SQL. */
type OwnChecks = "held" | "months" | "usage" | EntryKind;

/** The parts of a shared query that differ between stores. */
export interface StoreWords extends PrintedEnds {
  dialect: SqlDialect;
  /** Sums whole numbers or money without ever throwing; 0 if there are none. */
  sum: (expression: string) => string;
  /** The reference of an entry made by `row`, which has a `source` and an `external_id`. */
  referenceOf: (row: "c" | "r" | "t") => string;
}

/** Requests whose transaction has entries of one kind (I6). */
export interface Booked {
  txn: string;
  /** The time according to the requests; null if they do not record it. */
  at: string | null;
  amount: string;
  which: string;
}

/** When a request ended, and in which transaction. */
const ENDED = { txn: "closed_txn", at: "ended_at" } as const;
const SETTLED = "state = 'settled'";

/** Keyed by the kind of the entry. `wide` returns a money column in a type to which any amount can be added. */
export const bookedByKind = (wide: (column: string) => string): Record<EntryKind, Booked> => ({
  hold: { txn: "opened_txn", at: "admitted_at", amount: `(${wide("hold")} + lowered)`, which: "true" },
  lower: { txn: "lowered_txn", at: null, amount: "lowered", which: "lowered_txn IS NOT NULL" },
  charge: { ...ENDED, amount: "charge", which: SETTLED },
  rest: { ...ENDED, amount: `(${wide("hold")} - charge)`, which: SETTLED },
  void: { ...ENDED, amount: "hold", which: "state = 'released'" },
  variance: { ...ENDED, amount: "variance", which: SETTLED },
});

/** SQL for the first and the last instant of a group; an empty text if no column has it. */
export const instantsOf = (column: string | null): string =>
  column === null ? "''" : `min(${column}) || '-' || max(${column})`;

/** The checks that are the same on both stores. */
export const sharedChecks = (words: StoreWords): Omit<Compared, OwnChecks> => ({
  chainEnds: `
    SELECT o.org_id, NULL, 'a balance', 'none' FROM organization o LEFT JOIN org_balance b ON b.org_id = o.org_id AND b.slot = 0
    WHERE b.org_id IS NULL
    UNION ALL
    SELECT e.org_id, NULL, 'an organization, and slot 0', 'slot ' || e.slot FROM (
      SELECT DISTINCT org_id, slot FROM ledger_entry UNION SELECT org_id, slot FROM org_balance) AS e
    LEFT JOIN organization o USING (org_id) WHERE o.org_id IS NULL OR e.slot <> 0`,
  monthKeys: `
    SELECT m.org_id, NULL, m.key_id, coalesce(k.key_id, 'no key')
    FROM key_month m LEFT JOIN api_key k USING (org_id, key_id)`,
  notedHolds: `
    SELECT h.org_id, h.request_id, h.key_id, coalesce(r.key_id, 'no request')
    FROM key_hold h LEFT JOIN request r USING (org_id, request_id)`,
  claims: `
    SELECT c.org_id, c.request_id, c.key_id || ' ' || c.idem_key, coalesce(r.key_id || ' ' || r.idem_key, 'no request')
    FROM claim c LEFT JOIN request r USING (org_id, request_id)`,
  claimed: `
    SELECT org_id, request_id, 'admitted from ' || before_until, 'admitted at ' || admitted_at FROM (
      SELECT org_id, request_id, admitted_at,
        max(coalesce(claim_until, 9223372036854775807)) OVER (PARTITION BY org_id, key_id, idem_key
          ORDER BY admitted_at, request_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_until
      FROM request WHERE idem_key IS NOT NULL AND state <> 'released') AS claimed
    WHERE admitted_at < before_until`,
  lateRequests: `
    SELECT request.org_id, request_id, 'before ' || k.revoked_at, CAST(admitted_at AS text)
    FROM request CROSS JOIN api_key k
    WHERE k.org_id = request.org_id AND k.key_id = request.key_id AND k.revoked_at IS NOT NULL AND admitted_at > k.revoked_at`,
  revivedKeys: REVIVED_KEYS,
  movedEnds: movedEnds(words),
  entitled: `
    SELECT r.org_id, r.request_id, 'an entitlement for ' || r.model, 'none' FROM request r
    WHERE r.tier = 'research' AND NOT EXISTS (
      SELECT 1 FROM entitlement e WHERE e.org_id = r.org_id AND e.model = r.model AND e.approved_at IS NOT NULL
        AND e.approved_at <= r.admitted_at AND r.admitted_at < e.expires_at
        AND (e.revoked_at IS NULL OR r.admitted_at <= e.revoked_at))`,
  ...creditChecks(words),
  answers: `
    SELECT org_id, request_id, CAST(expires_at AS text), CAST(?1 AS text) FROM result
    WHERE expires_at < CAST(?1 AS bigint) - 3600000`,
  running: `
    SELECT org_id, key_id || ' ' || model, CAST(found AS text), CAST(running AS text)
    FROM (${WRONGLY_COUNTED[words.dialect]}) AS wrong`,
  marked: UNMARKED,
  versions: `
    WITH newest AS (SELECT route, max(version) AS version FROM route_release GROUP BY 1)
    SELECT NULL, s.route, coalesce(CAST(n.version AS text), 'no release'), CAST(s.highest_version AS text)
    FROM route_state s LEFT JOIN newest n USING (route)
    UNION ALL
    SELECT NULL, n.route, CAST(n.version AS text), 'no row'
    FROM newest n LEFT JOIN route_state s USING (route) WHERE s.route IS NULL`,
});

/** I16: compares top-ups and reversals with the entries that they made, which are found in one pass over all entries. */
const creditChecks = ({ sum, referenceOf }: StoreWords) => ({
  topUps: `
    WITH booked AS MATERIALIZED (
      SELECT org_id, txn, kind, reference, count(*) || ' of ' || ${sum("amount")} || ' at ' || coalesce(CAST(max(at) AS text), '?') AS found
      FROM ledger_entry WHERE kind IN ('purchase', 'grant') GROUP BY org_id, txn, kind, reference),
    told AS MATERIALIZED (SELECT t.org_id, t.txn, t.kind, ${referenceOf("t")} AS reference FROM topup t)
    SELECT t.org_id, t.external_id, '1 of ' || t.amount || ' at ' || t.at, coalesce(b.found, '0 of 0 at ?')
    FROM topup t LEFT JOIN booked b
      ON b.org_id = t.org_id AND b.txn = t.txn AND b.kind = t.kind AND b.reference = ${referenceOf("t")}
    UNION ALL
    SELECT e.org_id, e.reference, '1', '0' FROM ledger_entry e LEFT JOIN told
      ON told.org_id = e.org_id AND told.txn = e.txn AND told.kind = e.kind AND told.reference = e.reference
    WHERE e.kind IN ('purchase', 'grant') AND told.org_id IS NULL`,
  reversals: `
    WITH booked AS MATERIALIZED (
      SELECT org_id, txn, reference, ${sum("amount")} || ' at ' || coalesce(CAST(max(at) AS text), '?') AS found
      FROM ledger_entry WHERE kind IN ('chargeback', 'chargeback_debt', 'refund') GROUP BY org_id, txn, reference),
    told AS MATERIALIZED (SELECT r.org_id, r.txn, ${referenceOf("r")} AS reference FROM reversal r)
    SELECT r.org_id, r.external_id, r.amount || ' at ' || r.at, coalesce(b.found, '0 at ?')
    FROM reversal r LEFT JOIN booked b ON b.org_id = r.org_id AND b.txn = r.txn AND b.reference = ${referenceOf("r")}
    UNION ALL
    SELECT e.org_id, e.reference, '0', CAST(e.amount AS text) FROM ledger_entry e LEFT JOIN told
      ON told.org_id = e.org_id AND told.txn = e.txn AND told.reference = e.reference
    WHERE e.kind IN ('chargeback', 'chargeback_debt', 'refund') AND told.org_id IS NULL`,
  topUpBalances: wrongBalances("topup", referenceOf("c")),
  reversalBalances: wrongBalances("reversal", referenceOf("c")),
  refunds: `
    SELECT org_id, target, 'at most ' || cost, 'refunded ' || refunded FROM (
      SELECT v.org_id, v.target, coalesce(max(r.charge), 0) AS cost, ${sum("v.amount")} AS refunded
      FROM reversal v LEFT JOIN request r ON r.org_id = v.org_id AND r.request_id = v.target
      WHERE v.kind = 'refund' GROUP BY 1, 2) AS sums WHERE refunded > cost`,
});

/** Runs every check, one after the other, on one snapshot of the store. */
export function* checkSums(compared: Compared, findings: Findings, nowMs: number): Query<void> {
  for (const [name, [invariant, rows]] of Object.entries(CHECKS)) {
    const [counted] = yield* ask(`SELECT count(*) AS rows_there FROM ${rows}`);
    findings.checkedRows(invariant, numberOf(counted?.["rows_there"]));
    const query = compared[name as Name];
    const differing = yield* ask(
      `WITH compared (org, about, expected, found) AS (${query})
       SELECT org, about, expected, found FROM compared WHERE expected IS DISTINCT FROM found`,
      query.includes("?1") ? [Math.floor(nowMs)] : [],
    );
    for (const { org, about, expected, found } of differing)
      findings.violated(invariant, {
        organizationId: textOrNull(org as Cell),
        requestId: textOrNull(about as Cell),
        expected: String(expected),
        found: String(found),
      });
    findings.took(invariant);
  }
}
