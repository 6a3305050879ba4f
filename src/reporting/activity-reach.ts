// How far back one page of activity looks. Requests are stored in the order of time, and no index knows keys, models or
// codes, since every request would pay for it: a filter that finds little would read everything that an organization
// ever did (docs/decisions/0098-reads-in-pieces.md).
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { asksRequestLog, asksRequests, type Filter, ofRequestLog, ofRequests } from "./activity-filter.ts";
import { isRequestId } from "./cursors.ts";

/** The number of requests, and as many request log rows, that a page with a filter examines. */
export const LOOKED_AT = 5_000;
/** So many damaged ids in a row leave a page without an end that a cursor could name. */
const SPARE = 16;

/** True if only some requests are asked for, whenever they were. */
export const isNarrowed = ({ state, key, model, surface, code }: Filter["query"]): boolean =>
  [state, key, model, surface, code].some((asked) => asked !== undefined);
/** True if a page may have to read many rows to find few. Those that run have an index of their own. */
const mayFindLittle = (query: Filter["query"]): boolean => query.state !== "running" && isNarrowed(query);

/**
 * The oldest id that this page examines; the next one continues with older ones. Null if it may go back to
 * the beginning of its window. Read before the rows: rows that expire in between are then never skipped.
 */
export async function reachOf(sql: Sql, filter: Filter, lookedAt: number): Promise<string | null> {
  const { organizationId, query, window } = filter;
  if (!mayFindLittle(query)) return null;
  const unfiltered = { organizationId, window, query: { cursor: query.cursor } };
  const spare = Math.min(SPARE, lookedAt);
  const end = { limit: spare + 1, offset: lookedAt - spare };
  const requests = from
    .selectFrom("request")
    .select("request_id")
    .where(ofRequests(sql, unfiltered))
    .orderBy("request_id", "desc")
    .limit(end.limit)
    .offset(end.offset);
  const log = from
    .selectFrom("journal")
    .select("request_id")
    .where(ofRequestLog(unfiltered))
    .orderBy("request_id", "desc")
    .limit(end.limit)
    .offset(end.offset);
  const ends = [
    ...(asksRequests(query) ? [await rowsOf(sql, requests)] : []),
    ...(asksRequestLog(query) ? [await rowsOf(sql, log)] : []),
  ].filter((rows) => rows.length > spare);
  const ids = ends.flatMap((rows) => idAtTheEnd(rows.slice(0, spare)));
  return ids.toSorted().at(-1) ?? null;
}

/** The oldest one that can be a cursor. */
const idAtTheEnd = (rows: readonly { request_id: string }[]): string[] =>
  rows
    .map(({ request_id: id }) => id)
    .filter(isRequestId)
    .slice(-1);
