// Figures that must agree between tables, as SQLite queries: the ones that need different SQL in each store.
import { WRITTEN_TOKENS } from "../../../store/written-tokens.ts";
import { saturatedSum } from "../../sqlite/saturated-sum.ts";
import { type Booked, bookedByKind, type Compared, instantsOf, sharedChecks } from "../sums.ts";

const BOOKED = bookedByKind((column) => column);
const WRITTEN = WRITTEN_TOKENS.sqlite;

export const SQLITE_SUMS: Compared = {
  ...sharedChecks({
    dialect: "sqlite",
    sum: saturatedSum,
    referenceOf: (row) => `json_array(${row}.source, ${row}.external_id)`,
    place: "instr",
    printed: (ms) =>
      `(strftime('%Y-%m-%dT%H:%M:%S', ${ms} / 1000, 'unixepoch') || printf('.%03dZ', ${ms} % 1000))`,
  }),
  held: `
    SELECT b.org_id, NULL, (SELECT ${saturatedSum("hold")} FROM request r WHERE r.org_id = b.org_id AND r.state = 'dispatched'), b.held
    FROM org_balance b`,
  months: `
    WITH sums AS (
      SELECT org_id, key_id, month, ${saturatedSum("CASE WHEN state = 'dispatched' THEN hold ELSE 0 END")} AS held, ${saturatedSum("charge")} AS spent
      FROM request GROUP BY org_id, key_id, month)
    SELECT m.org_id, m.key_id, ifnull(s.held, 0) || '/' || ifnull(s.spent, 0), m.held || '/' || m.spent
    FROM key_month m LEFT JOIN sums s USING (org_id, key_id, month)
    UNION ALL
    SELECT s.org_id, s.key_id, s.held || '/' || s.spent, 'no row' FROM sums s LEFT JOIN key_month m USING (org_id, key_id, month) WHERE m.org_id IS NULL`,
  hold: entriesOfTransaction("hold", BOOKED.hold),
  lower: entriesOfTransaction("lower", BOOKED.lower),
  charge: entriesOfTransaction("charge", BOOKED.charge),
  rest: entriesOfTransaction("rest", BOOKED.rest),
  void: entriesOfTransaction("void", BOOKED.void),
  variance: entriesOfTransaction("variance", BOOKED.variance),
  usage: `
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
      s.requests || '/' || s.input || '/' || s.cached || '/' || s.written || '/' || s.output || '/' || s.charge,
      ifnull(u.requests || '/' || u.input_tokens || '/' || u.cached_tokens || '/' || u.cache_write_tokens || '/' ||
        u.output_tokens || '/' || u.charge, 'no row')
    FROM sums s LEFT JOIN usage_hour u USING (org_id, key_id, model, hour)
    UNION ALL
    SELECT u.org_id, u.key_id, 'no row', u.requests FROM usage_hour u LEFT JOIN sums s USING (org_id, key_id, model, hour) WHERE s.org_id IS NULL`,
};

/** Compares entries of a kind with the requests naming their transaction: count, sum, time, both ways. A zero amount has none. */
function entriesOfTransaction(kind: string, { txn, at, amount, which }: Booked): string {
  return `
    WITH asked AS (
      SELECT org_id, ${txn} AS txn, ${saturatedSum(amount)} AS amount, count(*) AS requests, ${instantsOf(at)} AS at
      FROM request WHERE ${which} AND ${amount} > 0 GROUP BY 1, 2),
    booked AS (
      SELECT org_id, txn, ${saturatedSum("amount")} AS amount, ${saturatedSum("requests")} AS requests, ${instantsOf(at && "at")} AS at
      FROM ledger_entry WHERE kind = '${kind}' GROUP BY 1, 2)
    SELECT a.org_id, NULL, a.requests || ' of ' || a.amount || ' at ' || ifnull(a.at, '?'),
      ifnull(b.requests || ' of ' || b.amount || ' at ' || b.at, 'no entry')
    FROM asked a LEFT JOIN booked b USING (org_id, txn)
    UNION ALL
    SELECT b.org_id, NULL, 'no entry', b.requests || ' of ' || b.amount FROM booked b LEFT JOIN asked a USING (org_id, txn) WHERE a.org_id IS NULL`;
}
