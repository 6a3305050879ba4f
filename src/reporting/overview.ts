// The overview: what is left, how fast it goes, what happened, what needs attention.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type * as overviewShapes from "../api/shapes/overview.ts";
import type { z } from "zod";
import { formatUsd, type NanoUsd, nanoUsd, sumUsd } from "../domain/money.ts";
import type { People } from "../people/people.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { ListedRoute, RouteStanding } from "../releases/standing.ts";
import { from, numberOrNull, rowOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { printBalance } from "./balance.ts";
import { attentionOf, type AttentionPorts } from "./attention.ts";
import { BURN_DAYS } from "./credit-pace.ts";
import { keysNearLimit, keySteps } from "./keys-near-limit.ts";
import type { LabelBook } from "./labels.ts";
import { refusalCauses } from "./refusal-causes.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { dearestBeside, dearestModels, hoursOf, printBeside, spendByModel } from "./spend-beside.ts";
import { unusualDayOf } from "./unusual-day.ts";
import { dayOf, monthOf, windowOf, type Window } from "./windows.ts";

type Overview = z.output<typeof overviewShapes.overview>;

export interface OverviewPorts extends AttentionPorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "balance" | "read">;
  people: Pick<People, "memberCounts">;
  labels: LabelBook;
  standings(): RouteStanding[];
  listedRoutes(): ListedRoute[];
  flushRequestLog(): Promise<void>;
}

/** A model used within this many days counts as used by the organization. */
const USED_DAYS = 30;
const TOP = 5;

/** Throws `OperatorRefusal` if there is no such organization. */
export async function overviewOf(
  on: OverviewPorts,
  organizationId: string,
  { range = "24h" }: z.output<typeof overviewShapes.overviewQuery>,
): Promise<Overview> {
  await on.flushRequestLog();
  const nowMs = on.clock.nowMs();
  const window = windowOf({ range }, nowMs);
  const record = await on.ledger.balance(organizationId);
  if (record === null) throw unknownRecord("organization", organizationId, "org");
  const hours = hoursOf(window, range === "month");
  const used = Math.floor((nowMs - USED_DAYS * DAY_MS) / HOUR_MS);
  const models = await spendByModel(on.sql, organizationId, {
    ...hours,
    week: Math.floor((nowMs - BURN_DAYS * DAY_MS) / HOUR_MS),
    today: dayOf(nowMs) / HOUR_MS,
    month: monthOf(nowMs) / HOUR_MS,
    since: used,
  });
  const spent = (of: "week" | "today" | "month"): NanoUsd => sumUsd(models.map((model) => model[of]));
  const burn = nanoUsd(spent("week") / BigInt(BURN_DAYS));
  const topKeys = await dearestBeside(on.sql, organizationId, { hours, column: "key_id", most: TOP });
  const names = await on.labels.keysOf(
    organizationId,
    topKeys.map(({ group }) => group),
  );
  const routes = routesOf(on, new Set(models.flatMap((one) => (one.lastHour >= used ? one.model : []))));
  return {
    balance: printBalance(record),
    burn_usd_per_day: formatUsd(burn),
    days_left: burn > 0n ? Number(record.available / burn) : null,
    spend_today_usd: formatUsd(spent("today")),
    spend_month_usd: formatUsd(spent("month")),
    from: printTime(window.fromMs),
    to: printTime(window.toMs),
    before_from: printTime(hours.beforeFrom * HOUR_MS),
    spend: printBeside(models),
    unusual: await unusualDayOf(on, organizationId, nowMs),
    ...(await requestsOf(on.sql, organizationId, window)),
    ...(await refusalCauses(on, organizationId, { window, paid: record.paidWorkspace })),
    top_keys: topKeys.map(({ group, beside }) => ({
      key: group,
      name: names.get(group)?.name ?? group,
      ...beside,
    })),
    top_models: dearestModels(models, TOP).map((one) => ({ model: one.model, ...printBeside([one]) })),
    routes,
    attention: await attentionOf(on, organizationId, {
      keys: await keysNearLimit(on, organizationId),
      routes,
      available: record.available,
      debt: record.debt,
      burn,
      spentToday: spent("today"),
      nowMs,
    }),
    steps: {
      ...(await keySteps(on.sql, organizationId)),
      credits: record.purchased + record.granted > 0n,
      invited: ((await on.people.memberCounts([organizationId])).get(organizationId) ?? 0) > 1,
    },
  };
}

/** Counts and times of the window's requests; the percentiles cover those that delivered something. */
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

/** The routes of used models. */
const routesOf = (on: OverviewPorts, used: ReadonlySet<string>): Overview["routes"] =>
  on
    .listedRoutes()
    .flatMap(({ route, names, state, reason, expiresAtMs }) =>
      names !== null && used.has(names.model)
        ? [{ route, ...names, state, reason, expires_at: printTimeOrNull(expiresAtMs) }]
        : [],
    );
