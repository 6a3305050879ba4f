// Requests of all organizations, newest first, for operators. No index orders all of them by time, and a
// table that requests write must not get one: a page examines a span of time with few enough rows, and says
// how far it got.
import type { z } from "zod";
import type * as shapes from "../api/shapes/operator-requests.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import { from, rowOf, rowsOf } from "../store/query.ts";
import { type ActivityPorts, labelled } from "./activity.ts";
import { isNarrowed, LOOKED_AT } from "./activity-reach.ts";
import {
  asksRequestLog,
  asksRequests,
  type Filter,
  newestOfRequestLog,
  newestRequests,
  ofRequestLog,
  ofRequests,
} from "./activity-filter.ts";
import { type HeldRow, type LoggedRow, newestOfBoth } from "./activity-rows.ts";
import { requestCursor } from "./cursors.ts";
import { organizationNames } from "./organization-names.ts";
import { sinceRequest, timeOfRequest } from "./request-time.ts";
import { windowIfAsked } from "./windows.ts";

type Query = Omit<z.output<typeof shapes.operatorRequestsQuery>, "find">;
type Found = z.output<typeof shapes.operatorRequests>;
type Ports = Pick<ActivityPorts, "sql" | "clock" | "labels" | "flushRequestLog">;

/** The initial length of the span, and the factor by which it grows or shrinks. */
const FIRST_SPAN_MS = 60_000;
const STEP = 4;
const ID_LENGTH = "req_".length + 32;

/** One page. If it is not full but more may follow, `searched_to` says how far back it searched. */
export const requestsOfAll = async (on: Ports, query: Query, lookedAt = LOOKED_AT): Promise<Found> =>
  (await pageOfAll(on, query, { lookedAt, spanMs: FIRST_SPAN_MS })).found;

/** One page after another of the same query, each of which begins with the span that fitted the one before. */
export function pagesOfAll(on: Ports, query: Query): (cursor: string | undefined) => Promise<Found> {
  let spanMs = FIRST_SPAN_MS;
  return async (cursor) => {
    const page = await pageOfAll(on, { ...query, cursor }, { lookedAt: LOOKED_AT, spanMs });
    spanMs = page.spanMs;
    return page.found;
  };
}

interface Look {
  lookedAt: number;
  /** The length of the span that is tried first. */
  spanMs: number;
}

async function pageOfAll(
  on: Ports,
  { org, ...query }: Query,
  look: Look,
): Promise<{ found: Found; spanMs: number }> {
  await on.flushRequestLog();
  const limit = query.limit ?? PAGE_ROWS;
  const asked = { organizationId: org ?? null, query, window: windowIfAsked(query, on.clock.nowMs()) };
  const { fromMs, spanMs } = await spanOf(on, asked, { ...look, limit });
  const filter = { ...asked, window: { ...asked.window, fromMs } };
  const held = asksRequests(query)
    ? await rowsOf(on.sql, newestRequests(on.sql, filter, limit + 1).select("org_id"))
    : [];
  const logged = asksRequestLog(query) ? await rowsOf(on.sql, newestOfRequestLog(filter, limit + 1)) : [];
  const rows = await named(on, newestOfBoth({ held, logged }, limit + 1));
  const data = rows.slice(0, limit);
  const page = (next_cursor: string | null, searched_to: string | null) => ({
    found: { data, next_cursor, searched_to },
    spanMs,
  });
  if (rows.length > limit) return page(data.at(-1)?.id ?? null, null);
  if (fromMs <= (asked.window.fromMs ?? 0)) return page(null, null);
  return page(sinceRequest(fromMs).padEnd(ID_LENGTH, "0"), printTime(fromMs));
}

/**
 * The start of the page's span: as early as allowed, with no more requests than a page examines; without a
 * filter no earlier than the page needs to be full.
 */
async function spanOf(
  on: Ports,
  filter: Filter,
  { lookedAt, spanMs, limit }: Look & { limit: number },
): Promise<{ fromMs: number; spanMs: number }> {
  const cursor = requestCursor(filter.query.cursor);
  const untilMs = cursor === undefined ? (filter.window.toMs ?? on.clock.nowMs()) : timeOfRequest(cursor);
  const whole = Math.max(1, untilMs - (filter.window.fromMs ?? 0));
  // These have an index of their own, across all times.
  if (filter.query.state === "running") return { fromMs: untilMs - whole, spanMs };
  const hasMore = async (ms: number, rows: number): Promise<boolean> => {
    const window = { ...filter.window, fromMs: untilMs - ms };
    return await isLonger(on, { ...filter, window }, rows);
  };
  let span = Math.min(spanMs, whole);
  while (span > 1 && (await hasMore(span, lookedAt))) span = Math.max(1, Math.floor(span / STEP));
  while (span < whole) {
    if (!isNarrowed(filter.query) && (await hasMore(span, limit))) break;
    const longer = Math.min(span * STEP, whole);
    if (await hasMore(longer, lookedAt)) break;
    span = longer;
  }
  return { fromMs: untilMs - span, spanMs: span };
}

/** True if either source has more rows than that, unfiltered. */
async function isLonger(
  { sql }: Ports,
  { organizationId, query, window }: Filter,
  rows: number,
): Promise<boolean> {
  const unfiltered = { organizationId, window, query: { cursor: query.cursor } };
  const requests = from.selectFrom("request").where(ofRequests(sql, unfiltered));
  const log = from.selectFrom("journal").where(ofRequestLog(unfiltered));
  const beyond = [
    ...(asksRequests(query) ? [requests.select("request_id").limit(1).offset(rows)] : []),
    ...(asksRequestLog(query) ? [log.select("request_id").limit(1).offset(rows)] : []),
  ];
  for (const one of beyond) if ((await rowOf(sql, one)) !== undefined) return true;
  return false;
}

type HeldOf = HeldRow & { org_id: string };

/** Newest first, with the names of organizations, keys and releases. */
async function named(
  on: Ports,
  { held, logged }: { held: HeldOf[]; logged: LoggedRow[] },
): Promise<Found["data"]> {
  const owners = [...new Set([...held, ...logged].map(({ org_id }) => org_id))];
  const names = await organizationNames(on.sql, owners);
  const pages = owners.map(async (id) => {
    const of = <R extends { org_id: string }>(rows: R[]): R[] => rows.filter(({ org_id }) => org_id === id);
    const rows = await labelled(on, id, { held: of(held), logged: of(logged) });
    return rows.map((row) => ({ ...row, org: { id, name: names.get(id) ?? id } }));
  });
  return (await Promise.all(pages)).flat().toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
