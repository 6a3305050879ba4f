// The first page: what is left, how fast it goes, what happened, what needs attention.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, type NanoUsd, nanoUsd, ZERO_USD } from "../../contract/money.ts";
import type { People } from "../../contract/people.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { RouteStanding } from "../../releases/standing.ts";
import { moneyOf, numberOf, orNull, type Sql, textOf } from "../../store/sql.ts";
import { credits } from "../credits.ts";
import { attentionOf, type AttentionPorts } from "./attention.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { dayOf, monthOf, windowOf, type Window } from "./windows.ts";

type Overview = AppAnswer<"GET /orgs/{org}/overview">;

export interface OverviewPorts extends AttentionPorts {
  sql: Sql;
  clock: Clock;
  ledger: Ledger;
  people: Pick<People, "memberships">;
  standings(): RouteStanding[];
  flushJournal(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BURN_DAYS = 7;
const TOP = 5;

export const overview = (on: OverviewPorts): Pick<Desk, "overview"> => ({
  async overview(organizationId, { range = "24h" }) {
    await on.flushJournal();
    const nowMs = on.clock.nowMs();
    const window = windowOf({ range }, nowMs);
    const balance = await credits(on.ledger).show(organizationId);
    const spent = (fromMs: number): Promise<NanoUsd> => spentSince(on.sql, organizationId, fromMs);
    const weekly = await spent(nowMs - BURN_DAYS * DAY_MS);
    const burn = nanoUsd(weekly / BigInt(BURN_DAYS));
    const record = await on.ledger.balance(organizationId);
    const keys = await on.ledger.keys(organizationId);
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    const top = (column: "key_id" | "model") => topOf(on.sql, { organizationId, column, window });
    return {
      balance,
      burn_usd_per_day: formatUsd(burn),
      days_left: burn > 0n ? Number((record?.available ?? 0n) / burn) : null,
      spend_today_usd: formatUsd(await spent(dayOf(nowMs))),
      spend_month_usd: formatUsd(await spent(monthOf(nowMs))),
      from: new Date(window.fromMs).toISOString(),
      to: new Date(window.toMs).toISOString(),
      ...(await requestsOf(on.sql, organizationId, window)),
      refusals: await refusalsOf(on.sql, organizationId, window),
      top_keys: (await top("key_id")).map(({ group, ...sums }) => ({
        key: group,
        name: names.get(group) ?? group,
        ...sums,
      })),
      top_models: (await top("model")).map(({ group, ...sums }) => ({ model: group, ...sums })),
      routes: await routesOf(on, organizationId, nowMs),
      attention: await attentionOf(on, organizationId, {
        keys,
        routes: await routesOf(on, organizationId, nowMs),
        available: record?.available ?? ZERO_USD,
        debt: record?.debt ?? ZERO_USD,
        burn,
        nowMs,
      }),
      steps: {
        key: keys.length > 0,
        first_request: keys.some(({ lastUsedAtMs }) => lastUsedAtMs !== null),
        credits: record !== null && record.purchased + record.granted > 0n,
        invited: (await on.people.memberships({ organizationId })).length > 1,
      },
    };
  },
});

async function spentSince(sql: Sql, organizationId: string, fromMs: number): Promise<NanoUsd> {
  const [row] = await sql.rows(
    "SELECT COALESCE(sum(charge), 0) AS charge FROM usage_hour WHERE org_id = ?1 AND hour >= ?2",
    organizationId,
    Math.floor(fromMs / HOUR_MS),
  );
  return moneyOf(row?.["charge"] ?? 0);
}

/** Counts and times of the window's requests; the percentiles are of those that delivered something. */
async function requestsOf(
  sql: Sql,
  organizationId: string,
  { fromMs, toMs }: Window,
): Promise<Pick<Overview, "requests" | "running" | "error_rate" | "first_part_ms">> {
  const where = "org_id = ?1 AND request_id >= ?2 AND request_id < ?3";
  const at = [organizationId, sinceRequest(fromMs), sinceRequest(toMs + 1)] as const;
  const [row] = await sql.rows(
    `SELECT count(*) AS requests, COALESCE(sum(CASE WHEN ${stillRuns(sql)} THEN 1 ELSE 0 END), 0) AS running,
       COALESCE(sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END), 0) AS failed, count(first_part_ms) AS timed
     FROM request WHERE ${where}`,
    ...at,
  );
  const of = (name: string): number => numberOf(row?.[name] ?? 0);
  const nth = async (share: number): Promise<number | null> => {
    if (of("timed") === 0) return null;
    const [found] = await sql.rows(
      `SELECT first_part_ms FROM request WHERE ${where} AND first_part_ms IS NOT NULL
       ORDER BY first_part_ms LIMIT 1 OFFSET ?4`,
      ...at,
      Math.min(of("timed") - 1, Math.floor(of("timed") * share)),
    );
    return orNull(found?.["first_part_ms"], numberOf);
  };
  const ended = of("requests") - of("running");
  return {
    requests: of("requests"),
    running: of("running"),
    error_rate: ended === 0 ? 0 : of("failed") / ended,
    first_part_ms: { p50: await nth(0.5), p95: await nth(0.95) },
  };
}

async function refusalsOf(
  sql: Sql,
  organizationId: string,
  { fromMs, toMs }: Window,
): Promise<Overview["refusals"]> {
  const rows = await sql.rows(
    `SELECT code, count(*) AS requests FROM journal
     WHERE org_id = ?1 AND at >= ?2 AND at <= ?3 AND kind = 'refused' AND code IS NOT NULL
     GROUP BY code ORDER BY requests DESC, code`,
    organizationId,
    fromMs,
    toMs,
  );
  return rows.map((row) => ({ code: textOf(row["code"]), requests: numberOf(row["requests"]) }));
}

async function topOf(
  sql: Sql,
  { organizationId, column, window }: { organizationId: string; column: "key_id" | "model"; window: Window },
): Promise<{ group: string; requests: number; charge_usd: string }[]> {
  const rows = await sql.rows(
    `SELECT ${column} AS name, sum(requests) AS requests, sum(charge) AS charge FROM usage_hour
     WHERE org_id = ?1 AND hour >= ?2 GROUP BY ${column} ORDER BY charge DESC, name LIMIT ?3`,
    organizationId,
    Math.floor(window.fromMs / HOUR_MS),
    TOP,
  );
  return rows.map((row) => ({
    group: textOf(row["name"]),
    requests: numberOf(row["requests"]),
    charge_usd: formatUsd(moneyOf(row["charge"])),
  }));
}

async function routesOf(
  on: OverviewPorts,
  organizationId: string,
  nowMs: number,
): Promise<Overview["routes"]> {
  const rows = await on.sql.rows(
    "SELECT DISTINCT model FROM usage_hour WHERE org_id = ?1 AND hour >= ?2",
    organizationId,
    Math.floor((nowMs - 30 * DAY_MS) / HOUR_MS),
  );
  const used = new Set(rows.map((row) => textOf(row["model"])));
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
      expires_at: new Date(release.expiresAtMs).toISOString(),
    }));
}
