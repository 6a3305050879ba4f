// Request ids begin with their time (UUIDv7), and the request table is in their order: a window of time is a
// range of ids, and a page of the newest requests is one walk along the primary key.
import { type Expression, type RawBuilder, sql as fragment, type SqlBool } from "kysely";
import { HOUR_MS } from "../domain/durations.ts";
import type { Sql } from "../store/sql.ts";

const HEX_DIGITS = 12;
const MAX_MS = 0xffff_ffff_ffff;

/** Condition on `request` for rows with held credits, written so that each store uses its index of them. */
export const stillRuns = ({ dialect }: Pick<Sql, "dialect">): RawBuilder<SqlBool> =>
  dialect === "sqlite" ? fragment`request.state = 'dispatched'` : fragment`request.closed_txn IS NULL`;

/**
 * Condition on `request` for those of one organization. On SQLite the plus keeps the primary key out of it: in the order
 * of ids, a page of the few that run would read everything that the organization ever did.
 */
export const stillRunsIn = (
  sql: Pick<Sql, "dialect">,
  organization: string | Expression<string>,
): RawBuilder<SqlBool> =>
  sql.dialect === "sqlite"
    ? fragment`(+request.org_id = ${organization} AND ${stillRuns(sql)})`
    : fragment`(request.org_id = ${organization} AND ${stillRuns(sql)})`;

/** The smallest id that a request at or after this instant can have. */
export const sinceRequest = (ms: number): string =>
  `req_${Math.min(Math.max(0, Math.floor(ms)), MAX_MS)
    .toString(16)
    .padStart(HEX_DIGITS, "0")}`;

/** An id is created when a request arrives; its recorded time is that of its admission, a little later. */
const ADMITTED_WITHIN_MS = HOUR_MS;

/** The ids of requests admitted in this window, and some around it: `from` ≤ id < `to`. */
export const idsAround = ({
  fromMs,
  toMs,
}: {
  fromMs: number;
  toMs: number;
}): { from: string; to: string } => ({
  from: sinceRequest(fromMs - ADMITTED_WITHIN_MS),
  to: sinceRequest(toMs + ADMITTED_WITHIN_MS),
});

/** The time of a request, from its id alone. */
export const timeOfRequest = (id: string): number =>
  Number.parseInt(id.slice("req_".length, "req_".length + HEX_DIGITS), 16);
