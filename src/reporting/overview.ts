// The first page: what is left, how fast it goes, what happened, what needs attention.
import { keysOf } from "../registry/api-keys.ts";
import type * as spendShapes from "../api/shapes/spend.ts";
import type { z } from "zod";
import { formatUsd, type NanoUsd, nanoUsd } from "../domain/money.ts";
import type { People } from "../people/people.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { exactTotal, exactUsd, from, numberOrNull, rowOf, rowsOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { printBalance } from "./balance.ts";
import { attentionOf, type AttentionPorts } from "./attention.ts";
import type { LabelBook } from "./labels.ts";
import { refusalCauses } from "./refusal-causes.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { dearestBeside, hoursOf, spendBeside } from "./spend-beside.ts";
import { unusualDayOf } from "./unusual-day.ts";
import { dayOf, monthOf, windowOf, type Window } from "./windows.ts";

type Overview = z.output<typeof spendShapes.overview>;

export interface OverviewPorts extends AttentionPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "balance" | "read">;
  people: Pick<People, "memberCounts">;
  labels: LabelBook;
  standings(): RouteStanding[];
  flushRequestLog(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BURN_DAYS = 7;
const TOP = 5;

/** Throws `OperatorRefusal` where there is no such organization. */
export async function overviewOf(
  on: OverviewPorts,
  organizationId: string,
  { range = "24h" }: z.output<typeof spendShapes.overviewQuery>,
): Promise<Overview> {
  await on.flushRequestLog();
  const nowMs = on.clock.nowMs();
  const window = windowOf({ range }, nowMs);
  const record = await on.ledger.balance(organizationId);
  if (record === null) throw unknownRecord("organization", organizationId, "org");
  const spent = (fromMs: number): Promise<NanoUsd> => spentSince(on.sql, organizationId, fromMs);
  const weekly = await spent(nowMs - BURN_DAYS * DAY_MS);
  const burn = nanoUsd(weekly / BigInt(BURN_DAYS));
  const keys = await keysOf(on.ledger, organizationId);
  const hours = hoursOf(window, range === "month");
  const top = (column: "key_id" | "model") =>
    dearestBeside(on.sql, organizationId, { hours, column, most: TOP });
  const topKeys = await top("key_id");
  const names = await on.labels.keysOf(
    organizationId,
    topKeys.map(({ group }) => group),
  );
  const routes = await routesOf(on, organizationId, nowMs);
  const spentToday = await spent(dayOf(nowMs));
  return {
    balance: printBalance(record),
    burn_usd_per_day: formatUsd(burn),
    days_left: burn > 0n ? Number(record.available / burn) : null,
    spend_today_usd: formatUsd(spentToday),
    spend_month_usd: formatUsd(await spent(monthOf(nowMs))),
    from: printTime(window.fromMs),
    to: printTime(window.toMs),
    before_from: printTime(hours.beforeFrom * HOUR_MS),
    spend: await spendBeside(on.sql, organizationId, hours),
    unusual: await unusualDayOf(on, organizationId, nowMs),
    ...(await requestsOf(on.sql, organizationId, window)),
    ...(await refusalCauses(on, organizationId, { window, paid: record.paidWorkspace })),
    top_keys: topKeys.map(({ group, beside }) => ({
      key: group,
      name: names.get(group)?.name ?? group,
      ...beside,
    })),
    top_models: (await top("model")).map(({ group, beside }) => ({ model: group, ...beside })),
    routes,
    attention: await attentionOf(on, organizationId, {
      keys,
      routes,
      available: record.available,
      debt: record.debt,
      burn,
      spentToday,
      nowMs,
    }),
    steps: {
      key: keys.length > 0,
      first_request: keys.some(({ lastUsedAtMs }) => lastUsedAtMs !== null),
      credits: record.purchased + record.granted > 0n,
      invited: ((await on.people.memberCounts([organizationId])).get(organizationId) ?? 0) > 1,
    },
  };
}

async function spentSince(sql: Sql, organizationId: string, fromMs: number): Promise<NanoUsd> {
  const query = from
    .selectFrom("usage_hour")
    .where("org_id", "=", organizationId)
    .where("hour", ">=", BigInt(Math.floor(fromMs / HOUR_MS)))
    .select((eb) => exactTotal(eb.ref("charge")).as("charge"));
  return exactUsd((await theRow(sql, query)).charge);
}

/** Counts and times of the window's requests; the percentiles are of those that delivered something. */
async function requestsOf(
  sql: Sql,
  organizationId: string,
  { fromMs, toMs }: Window,
): Promise<Pick<Overview, "requests" | "running" | "error_rate" | "first_part_ms">> {
  const within = from
    .selectFrom("request")
    .where("org_id", "=", organizationId)
    .where("request_id", ">=", sinceRequest(fromMs))
    .where("request_id", "<", sinceRequest(toMs + 1));
  const counted = within.select((eb) => [
    eb.fn.countAll<bigint>().as("requests"),
    eb.fn.countAll<bigint>().filterWhere(stillRuns(sql)).as("running"),
    eb.fn
      .countAll<bigint>()
      .filterWhere(eb("status", ">=", 500n))
      .as("failed"),
    eb.fn.count<bigint>("first_part_ms").as("timed"),
  ]);
  const counts = await theRow(sql, counted);
  const [requests, running, timed] = [counts.requests, counts.running, counts.timed].map(Number) as [
    number,
    number,
    number,
  ];
  const nth = async (share: number): Promise<number | null> => {
    const query = within
      .select("first_part_ms")
      .where("first_part_ms", "is not", null)
      .orderBy("first_part_ms")
      .limit(1)
      .offset(Math.max(0, Math.min(timed - 1, Math.floor(timed * share))));
    return numberOrNull((await rowOf(sql, query))?.first_part_ms ?? null);
  };
  return {
    requests,
    running,
    error_rate: requests === running ? 0 : Number(counts.failed) / (requests - running),
    first_part_ms: { p50: await nth(0.5), p95: await nth(0.95) },
  };
}

async function routesOf(
  on: OverviewPorts,
  organizationId: string,
  nowMs: number,
): Promise<Overview["routes"]> {
  const query = from
    .selectFrom("usage_hour")
    .select("model")
    .distinct()
    .where("org_id", "=", organizationId)
    .where("hour", ">=", BigInt(Math.floor((nowMs - 30 * DAY_MS) / HOUR_MS)));
  const used = new Set((await rowsOf(on.sql, query)).map(({ model }) => model));
  return on
    .standings()
    .filter(({ release }) => used.has(release.model))
    .map(({ release, state, reason }) => ({
      route: release.route,
      model: release.model,
      provider: release.provider,
      region: release.region,
      state,
      reason,
      expires_at: printTime(release.expiresAtMs),
    }));
}
