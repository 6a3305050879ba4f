// The overview: what is left, how fast it goes, what happened, what needs attention.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type * as overviewShapes from "../api/shapes/overview.ts";
import type { z } from "zod";
import { formatUsd, type NanoUsd, nanoUsd, sumUsd } from "../domain/money.ts";
import type { People } from "../people/people.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { ListedRoute, RouteStanding } from "../releases/standing.ts";
import { from, joinedNumbers } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { printBalance } from "./balance.ts";
import { attentionOf, type AttentionPorts } from "./attention.ts";
import { BURN_DAYS } from "./credit-pace.ts";
import { FirstParts } from "./first-parts.ts";
import { keysNearLimit, keySteps } from "./keys-near-limit.ts";
import type { LabelBook } from "./labels.ts";
import { refusalCauses } from "./refusal-causes.ts";
import { OF_PIECE, sumRequests } from "./request-pieces.ts";
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
  let [requests, running, failed] = [0n, 0n, 0n];
  const times = new FirstParts();
  const range = { organizationId, from: sinceRequest(fromMs), to: sinceRequest(toMs + 1) };
  const pieces = sumRequests(sql, range, (piece) =>
    from
      .selectFrom(piece)
      .select(OF_PIECE)
      .select((eb) => [
        eb.fn.countAll<bigint>().filterWhere(stillRuns(sql)).as("running"),
        eb.fn
          .countAll<bigint>()
          .filterWhere(eb("status", ">=", 500n))
          .as("failed"),
        joinedNumbers(sql, eb.ref("first_part_ms")).as("times"),
      ]),
  );
  for await (const piece of pieces) {
    requests += piece.walked;
    running += piece.running;
    failed += piece.failed;
    times.add(piece.times);
  }
  return {
    requests: Number(requests),
    running: Number(running),
    error_rate: requests === running ? 0 : Number(failed) / Number(requests - running),
    first_part_ms: { p50: times.at(0.5), p95: times.at(0.95) },
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
