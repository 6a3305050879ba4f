// Filters of the activity page over both of its sources: the ledger's requests, and the request log of those
// that held nothing.
import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import type { z } from "zod";
import type * as activityShapes from "../api/shapes/activity.ts";
import { FIRST_SURFACE } from "../domain/surfaces.ts";
import { OWNER_LOST } from "../ledger/records.ts";
import { from, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { REQUEST_COLUMNS } from "./activity-rows.ts";
import { requestCursor } from "./cursors.ts";
import { sinceRequest, stillRuns, stillRunsIn } from "./request-time.ts";
import type { Window } from "./windows.ts";

export type ActivityQuery = z.output<typeof activityShapes.activityQuery>;

const IN_REQUEST_LOG = new Set<string | undefined>(["refused", "replay"]);

/** True if rows of this source can match. */
export const asksRequests = ({ state }: Pick<ActivityQuery, "state">): boolean => !IN_REQUEST_LOG.has(state);
export const asksRequestLog = ({ state }: Pick<ActivityQuery, "state">): boolean =>
  state === undefined || IN_REQUEST_LOG.has(state);

/**
 * One filter for both sources; a source that never has the state is skipped (`asksRequests`,
 * `asksRequestLog`).
 */
export interface Filter {
  /** Null means all. */
  organizationId: string | null;
  query: Pick<ActivityQuery, "state" | "key" | "model" | "surface" | "code" | "cursor">;
  window: Partial<Window>;
  /** The oldest id examined; null or missing: no bound besides the window. */
  reach?: string | null;
}

/** Rows from before there were several surfaces name none. */
const surfaceNamed = sql<string>`COALESCE(surface, ${sql.lit(FIRST_SURFACE)})`;

type Condition = Expression<SqlBool>;

/** Requests are stored by organization: a range of time is one range in each. */
const ofOrganization =
  (id: string | null) =>
  (eb: ExpressionBuilder<Tables, "request">): Condition =>
    id === null
      ? eb("org_id", "in", from.selectFrom("organization").select("org_id"))
      : eb("org_id", "=", id);

/** Found by their index; `requestsLike` says which they are. */
const running = (sql: Sql, organizationId: string | null): Condition[] =>
  organizationId === null ? [] : [stillRunsIn(sql, organizationId)];

/** The filter as a condition on the ledger's requests; a window is a range of their ids. */
export const ofRequests =
  (sql: Sql, { organizationId, query, window: { fromMs, toMs }, reach }: Filter) =>
  (eb: ExpressionBuilder<Tables, "request">): Condition =>
    eb.and([
      ...(query.state === "running" ? running(sql, organizationId) : [ofOrganization(organizationId)(eb)]),
      ...when(reach ?? undefined, (id) => eb("request_id", ">=", id)),
      ...when(requestCursor(query.cursor), (id) => eb("request_id", "<", id)),
      ...when(fromMs, (ms) => eb("request_id", ">=", sinceRequest(ms))),
      ...when(toMs, (ms) => eb("request_id", "<", sinceRequest(ms))),
      requestsLike(sql, query)(eb),
    ]);

type Narrowed = Omit<Filter["query"], "cursor">;

/** The part of the filter that no index knows, wherever and whenever a request was. */
export const requestsLike =
  (sql: Sql, query: Narrowed) =>
  (eb: ExpressionBuilder<Tables, "request">): Condition =>
    eb.and([
      ...when(query.key, (id) => eb("key_id", "=", id)),
      ...when(query.model, (model) => eb("model", "=", model)),
      ...when(query.surface, (surface) => eb(surfaceNamed, "=", surface)),
      ...when(query.code, (code) => eb("error_code", "=", code)),
      ...inState(sql, query.state, eb),
    ]);

function inState(
  sql: Sql,
  state: ActivityQuery["state"],
  eb: ExpressionBuilder<Tables, "request">,
): Condition[] {
  const released = eb("state", "=", "released");
  if (state === "running") return [stillRuns(sql)];
  const settled = eb("state", "=", "settled");
  if (state === "settled") return [settled, eb("finish_reason", "is not", null)];
  if (state === "cut_short") return [settled, eb("finish_reason", "is", null)];
  if (state === "outcome_unknown") return [released, eb("error_code", "=", OWNER_LOST)];
  if (state !== "released") return [];
  return [released, eb.or([eb("error_code", "is", null), eb("error_code", "<>", OWNER_LOST)])];
}

/** The same on the request log, where a state is a kind. */
export const ofRequestLog =
  ({ organizationId, query, window: { fromMs, toMs }, reach }: Filter) =>
  (eb: ExpressionBuilder<Tables, "journal">): Condition =>
    eb.and([
      ...when(organizationId ?? undefined, (id) => eb("org_id", "=", id)),
      ...when(reach ?? undefined, (id) => eb("request_id", ">=", id)),
      ...when(requestCursor(query.cursor), (id) => eb("request_id", "<", id)),
      ...when(fromMs, (ms) => eb("request_id", ">=", sinceRequest(ms))),
      ...when(toMs, (ms) => eb("request_id", "<", sinceRequest(ms))),
      rowsLike(query)(eb),
    ]);

/** Like `requestsLike`. */
export const rowsLike =
  (query: Narrowed) =>
  (eb: ExpressionBuilder<Tables, "journal">): Condition =>
    eb.and([
      ...when(query.key, (id) => eb("key_id", "=", id)),
      ...when(query.model, (model) => eb("model", "=", model)),
      ...when(query.surface, (surface) => eb(surfaceNamed, "=", surface)),
      ...when(query.code, (code) => eb("code", "=", code)),
      ...when(query.state, (state) => eb("kind", "=", state as "refused" | "replay")),
    ]);

/** The ledger's rows for one page, newest first. */
export const newestRequests = (sql: Sql, filter: Filter, limit: number) =>
  from
    .selectFrom("request")
    .select(REQUEST_COLUMNS)
    .where(ofRequests(sql, filter))
    .orderBy("request_id", "desc")
    .limit(limit);

/** The same for the request log. */
export const newestOfRequestLog = (filter: Filter, limit: number) =>
  from
    .selectFrom("journal")
    .selectAll()
    .where(ofRequestLog(filter))
    .orderBy("request_id", "desc")
    .limit(limit);
