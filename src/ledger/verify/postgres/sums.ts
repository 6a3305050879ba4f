// Figures that must agree between tables, as PostgreSQL queries: the ones that need different SQL in each store.
import { WRITTEN_TOKENS } from "../../../store/written-tokens.ts";
import { type Booked, bookedByKind, type Compared, instantsOf, sharedChecks } from "../sums.ts";

const UNFINISHED = "state IN ('admitted', 'dispatched')";
/** The last hour that is formatted as a date, in the year 9955. */
const LAST_HOUR = 70_000_000;

const BOOKED = bookedByKind((column) => `${column}::numeric`);
const WRITTEN = WRITTEN_TOKENS.postgresql;

export const POSTGRES_SUMS: Compared = {
  ...sharedChecks({
    dialect: "postgresql",
    sum: (expression) => `coalesce(sum(${expression}), 0)`,
    // In the form of the postings. Nothing stored is parsed here, because that could fail the verification over one row.
    referenceOf: (row) =>
      `'[' || to_json(${row}.source)::text || ',' || to_json(${row}.external_id)::text || ']'`,
    place: "strpos",
    printed: (ms) =>
      `(CASE WHEN ${ms} / 3600000 BETWEEN 0 AND ${LAST_HOUR} THEN to_char(to_timestamp(${ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
        || '.' || lpad((${ms} % 1000)::text, 3, '0') || 'Z' END)`,
  }),
  held: `
    SELECT b.org_id, NULL, coalesce(r.holds, 0)::text, b.held::text FROM org_balance b
    LEFT JOIN (SELECT org_id, sum(hold) AS holds FROM request WHERE ${UNFINISHED} GROUP BY 1) r USING (org_id)`,
  months: `
    WITH sums AS (
      SELECT org_id, key_id, month, sum(CASE WHEN ${UNFINISHED} THEN hold ELSE 0 END) AS held, sum(charge) AS spent
      FROM request GROUP BY 1, 2, 3)
    SELECT org_id, key_id, coalesce(s.held, 0) || '/' || coalesce(s.spent, 0),
      coalesce(m.held || '/' || m.spent, 'no row')
    FROM key_month m FULL JOIN sums s USING (org_id, key_id, month)`,
  hold: entriesOfTransaction("hold", BOOKED.hold),
  lower: entriesOfTransaction("lower", BOOKED.lower),
  charge: entriesOfTransaction("charge", BOOKED.charge),
  rest: entriesOfTransaction("rest", BOOKED.rest),
  void: entriesOfTransaction("void", BOOKED.void),
  variance: entriesOfTransaction("variance", BOOKED.variance),
  // Months that were dropped are not checked; usage_hour_other is never dropped.
  usage: `
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
};

/** Compares entries of a kind with the requests naming their transaction: count, sum, time, both ways. A zero amount has none. */
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
