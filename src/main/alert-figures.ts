// The figures for alert rules, read for many organizations together: one check takes a handful of statements, however
// many rules share it.
import { DAY_MS } from "../domain/durations.ts";
import type { Figures, Outcomes, WatchedRoute } from "../alerts/readings.ts";
import { findBalances } from "../ledger/balance.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { BalanceRecord } from "../ledger/records.ts";
import type { Clock } from "../lib/clock.ts";
import { type ById, gather } from "../lib/gather.ts";
import { type NanoUsd, ZERO_USD } from "../domain/money.ts";
import type { Payments } from "../payments/payments.ts";
import { type LimitedKey, readLimitedKeys } from "../registry/limited-keys.ts";
import { readModelsUsed, readSpent } from "../registry/requests.ts";
import type { RouteTable } from "../releases/route-table.ts";
import { numberOf, placesFrom, type Sql, textOf } from "../store/sql.ts";

interface LookOn {
  sql: Sql;
  ledger: Reader;
  routeTable: Pick<RouteTable, "model" | "lost">;
  payments: Pick<Payments, "automatic">;
  clock: Clock;
}

const WEEK_MS = 7 * DAY_MS;
const ORGANIZATIONS = 100;
/** Each of them may have a thousand keys. */
const WITH_KEYS = 10;
const NO_OUTCOMES: Outcomes = { requests: 0, failed: 0 };

/** Figures as of one instant. */
export function lookOn({ sql, ledger, routeTable, payments, clock }: LookOn): (id: string) => Figures {
  const nowMs = clock.nowMs();
  const gathered = <Value>(nothing: Value, ask: Ask<Value>, atMost = ORGANIZATIONS) =>
    gather({ nothing, ask, atMost });
  const balance = gathered<BalanceRecord | null>(null, (ids) => ledger.read(() => findBalances(ids)));
  const keys = gathered<LimitedKey[]>([], (ids) => readLimitedKeys(ledger, ids), WITH_KEYS);
  const models = gathered<string[]>([], (ids) => readModelsUsed(ledger, ids, nowMs - WEEK_MS));
  const topUpFailure = gathered<string | null>(null, (ids) => payments.automatic.failures(ids));
  const spent = perInstant((sinceMs) =>
    gathered<NanoUsd>(ZERO_USD, (ids) => readSpent(ledger, ids, sinceMs)),
  );
  const outcomes = perInstant((sinceMs) =>
    gathered<Outcomes>(NO_OUTCOMES, (ids) => readOutcomes(sql, ids, sinceMs)),
  );
  const routesOf = (model: string): WatchedRoute[] => [
    ...(routeTable.model(model)?.routes ?? []).map(({ release, state }) => ({
      route: release.route,
      model,
      state,
      expiresAtMs: release.expiresAtMs,
    })),
    ...routeTable
      .lost()
      .filter(({ names }) => names?.model === model)
      .map(({ route, state }) => ({ route, model, state, expiresAtMs: null })),
  ];
  return (id) => ({
    nowMs: () => nowMs,
    balance: () => balance(id),
    keys: () => keys(id),
    spentSince: (sinceMs) => spent(sinceMs)(id),
    outcomesSince: (sinceMs) => outcomes(sinceMs)(id),
    routes: async () => (await models(id)).flatMap(routesOf),
    topUpFailure: () => topUpFailure(id),
  });
}

type Ask<Value> = (ids: readonly string[]) => Promise<ById<Value>>;

/** Makes one value per instant, and reuses it. */
function perInstant<Made>(make: (sinceMs: number) => Made): (sinceMs: number) => Made {
  const made = new Map<number, Made>();
  return (sinceMs) => {
    const known = made.get(sinceMs) ?? make(sinceMs);
    made.set(sinceMs, known);
    return known;
  };
}

async function readOutcomes(sql: Sql, ids: readonly string[], sinceMs: number): Promise<ById<Outcomes>> {
  // Request ids begin with their time, so this reads only later requests.
  const since = `req_${sinceMs.toString(16).padStart(12, "0")}`;
  const rows = await sql.rows(
    `SELECT org_id, count(*) AS requests, sum(CASE WHEN state = 'released' OR status >= 500 THEN 1 ELSE 0 END) AS failed
     FROM request WHERE org_id IN (${placesFrom(2, ids)}) AND request_id >= ?1 AND state <> 'dispatched' GROUP BY org_id`,
    since,
    ...ids,
  );
  return new Map(
    rows.map((row) => [
      textOf(row["org_id"]),
      () => ({ requests: numberOf(row["requests"]), failed: numberOf(row["failed"]) }),
    ]),
  );
}
