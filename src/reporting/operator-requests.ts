// Requests of all organizations, newest first, for operators. No index orders all of them by time, and a
// table that requests write must not get one: a page examines a span of time with few enough rows, and says
// how far it got.
import type { z } from "zod";
import type * as shapes from "../api/shapes/operator-requests.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import { from, rowOf, rowsOf } from "../store/query.ts";
import { type ActivityPorts, labelled } from "./activity.ts";
import { LOOKED_AT } from "./activity-reach.ts";
import {
  asksRequestLog,
  asksRequests,
  type Filter,
  newestOfRequestLog,
  newestRequests,
  ofRequestLog,
  ofRequests,
} from "./activity-filter.ts";
import type { HeldRow, LoggedRow } from "./activity-rows.ts";
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
export async function requestsOfAll(
  on: Ports,
  { org, ...query }: Query,
  lookedAt = LOOKED_AT,
): Promise<Found> {
  await on.flushRequestLog();
  const limit = query.limit ?? PAGE_ROWS;
  const asked = { organizationId: org ?? null, query, window: windowIfAsked(query, on.clock.nowMs()) };
  const spanMs = await spanOf(on, asked, lookedAt);
  const filter = { ...asked, window: { ...asked.window, fromMs: spanMs } };
  const held = asksRequests(query)
    ? await rowsOf(on.sql, newestRequests(on.sql, filter, limit + 1).select("org_id"))
    : [];
  const logged = asksRequestLog(query) ? await rowsOf(on.sql, newestOfRequestLog(filter, limit + 1)) : [];
  const rows = await named(on, held, logged);
  const data = rows.slice(0, limit);
  if (rows.length > limit) return { data, next_cursor: data.at(-1)?.id ?? null, searched_to: null };
  if (spanMs <= (asked.window.fromMs ?? 0)) return { data, next_cursor: null, searched_to: null };
  const next_cursor = sinceRequest(spanMs).padEnd(ID_LENGTH, "0");
  return { data, next_cursor, searched_to: printTime(spanMs) };
}

/** The start of the page's span: as early as allowed, with no more requests than a page examines. */
async function spanOf(on: Ports, filter: Filter, lookedAt: number): Promise<number> {
  const cursor = requestCursor(filter.query.cursor);
  const untilMs = cursor === undefined ? (filter.window.toMs ?? on.clock.nowMs()) : timeOfRequest(cursor);
  const whole = Math.max(1, untilMs - (filter.window.fromMs ?? 0));
  const hasMore = async (ms: number): Promise<boolean> => {
    const window = { ...filter.window, fromMs: untilMs - ms };
    return await isLonger(on, { ...filter, window }, lookedAt);
  };
  let span = Math.min(FIRST_SPAN_MS, whole);
  while (span > 1 && (await hasMore(span))) span = Math.max(1, Math.floor(span / STEP));
  while (span < whole) {
    const longer = Math.min(span * STEP, whole);
    if (await hasMore(longer)) break;
    span = longer;
  }
  return untilMs - span;
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
async function named(on: Ports, held: HeldOf[], logged: LoggedRow[]): Promise<Found["data"]> {
  const owners = [...new Set([...held, ...logged].map(({ org_id }) => org_id))];
  const names = await organizationNames(on.sql, owners);
  const pages = owners.map(async (id) => {
    const of = <R extends { org_id: string }>(rows: R[]): R[] => rows.filter(({ org_id }) => org_id === id);
    const rows = await labelled(on, id, { held: of(held), logged: of(logged) });
    return rows.map((row) => ({ ...row, org: { id, name: names.get(id) ?? id } }));
  });
  return (await Promise.all(pages)).flat().toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
