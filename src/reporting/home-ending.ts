// Releases, entitlements and keys that expire soon, or have expired without renewal; the soonest first.
import { DAY_MS } from "../domain/durations.ts";
import { type Expression, sql as fragment } from "kysely";
import type { z } from "zod";
import type * as homeShapes from "../api/shapes/home.ts";
import { START } from "../domain/actor.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { organizationNames } from "./organization-names.ts";

type Row = z.output<typeof homeShapes.homeEnding>["data"][number];

interface EndingPorts {
  sql: Sql;
  clock: Clock;
  standings(): RouteStanding[];
}

interface Ending {
  kind: Row["kind"];
  id: string;
  title: string;
  org: string | null;
  atMs: number;
}

const SOON_MS = 14 * DAY_MS;
/**
 * Anything that expired earlier needs no action, except a release that nobody renewed: it still closes its
 * route.
 */
const PAST_MS = 7 * DAY_MS;
const SHOWN = 20;

export async function endingSoon(on: EndingPorts): Promise<Row[]> {
  const { sql } = on;
  const nowMs = on.clock.nowMs();
  const [fromMs, toMs] = [nowMs - PAST_MS, nowMs + SOON_MS];
  const soonest = [
    ...releasesIn(on.standings(), toMs),
    ...(await entitlementsIn(sql, fromMs, toMs)),
    ...(await keysIn(sql, nowMs, toMs)),
    ...(await managementKeysIn(sql, nowMs, toMs)),
  ]
    .toSorted((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1))
    .slice(0, SHOWN);
  const names = await organizationNames(
    sql,
    soonest.flatMap(({ org }) => org ?? []),
  );
  return soonest.map(({ atMs, ...one }) => ({
    ...one,
    org_name: one.org === null ? null : (names.get(one.org) ?? null),
    ends_at: printTime(atMs),
    over: atMs <= nowMs,
  }));
}

const releasesIn = (standings: readonly RouteStanding[], toMs: number): Ending[] =>
  standings
    // Disabled routes are left out: nobody is waiting for them.
    .filter(({ release, state }) => release.expiresAtMs < toMs && state !== "disabled")
    .map(({ release }) => ({
      kind: "release",
      id: release.route,
      title: release.route,
      org: null,
      atMs: release.expiresAtMs,
    }));

async function entitlementsIn(sql: Sql, fromMs: number, toMs: number): Promise<Ending[]> {
  const query = from
    .selectFrom("entitlement")
    .select((eb) => ["id", "org_id", "model", eb.ref("expires_at").$notNull().as("at")])
    .where("org_id", "in", from.selectFrom("organization").select("org_id"))
    // A literal, because the index of these rows is partial.
    .where("state", "=", fragment.lit("active"))
    .where("expires_at", ">=", BigInt(fromMs))
    .where("expires_at", "<", BigInt(toMs))
    .orderBy("expires_at")
    .limit(SHOWN);
  return (await rowsOf(sql, query)).map(({ id, org_id: org, model, at }) => ({
    kind: "entitlement",
    id,
    title: model,
    org,
    atMs: Number(at),
  }));
}

/**
 * Working keys only: a paused key stops nothing when it expires, and an expired one tells its user itself.
 */
async function keysIn(sql: Sql, fromMs: number, toMs: number): Promise<Ending[]> {
  const query = from
    .selectFrom("api_key")
    .select((eb) => ["key_id", "org_id", "name", eb.ref("expires_at").$notNull().as("at")])
    // A literal, because the index of these rows is partial.
    .where("expires_at", "is not", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">=", BigInt(fromMs))
    .where("expires_at", "<", BigInt(toMs))
    .orderBy("expires_at")
    .limit(SHOWN);
  return (await rowsOf(sql, query)).map(({ key_id: id, org_id: org, name, at }) => ({
    kind: "key",
    id,
    title: name,
    org,
    atMs: Number(at),
  }));
}

const madeByAStart = (id: Expression<string>) =>
  from
    .selectFrom("audit_log")
    .select("audit_log.target")
    .where("audit_log.action", "=", "management_key.create")
    .where("audit_log.actor", "=", START)
    .where("audit_log.target", "=", id);

/**
 * Keys that people created; logins of the command line come and go, as do the keys that gateways create for
 * themselves.
 */
async function managementKeysIn(sql: Sql, fromMs: number, toMs: number): Promise<Ending[]> {
  const query = from
    .selectFrom("management_key")
    .select((eb) => ["id", "name", eb.ref("expires_at").$notNull().as("at")])
    .where("revoked_at", "is", null)
    .where("login_of", "is", null)
    .where((eb) => eb.not(eb.exists(madeByAStart(eb.ref("management_key.id")))))
    .where("expires_at", ">=", BigInt(fromMs))
    .where("expires_at", "<", BigInt(toMs))
    .orderBy("expires_at")
    .limit(SHOWN);
  return (await rowsOf(sql, query)).map(({ id, name, at }) => ({
    kind: "management_key",
    id,
    title: name,
    org: null,
    atMs: Number(at),
  }));
}
