// The keys with a limit of many organizations, reduced to their limits, for alerts. Each organization's
// month, week and day are those that its own rows are stamped with.
import { newestStamps } from "../ledger/balance.ts";
import { keyState } from "../ledger/decide/key.ts";
import { countsDays, spansOf } from "../ledger/key-spans.ts";
import { notedHolds, spentByDay, weekFromHour } from "../ledger/key-spend.ts";
import type { Reader } from "../ledger/ledger.ts";
import { stampOf } from "../ledger/stamp.ts";
import { DAY_MS } from "../domain/durations.ts";
import { utcDay, utcMonth } from "../lib/clock.ts";
import { sumColumn } from "../store/exact-sum.ts";
import { ask, placesFrom, type Query, type SqlRow, textOf } from "../store/sql.ts";
import { type KeyRecord, lifeOf, limitsOf, spentInMonth, NOTHING_SPENT, spendsIn } from "./key-record.ts";

export type LimitedKey = Pick<KeyRecord, "id" | "name" | "spans">;

/** Live and paused keys, by organization; a damaged row throws only when its organization's keys are read. */
export const readLimitedKeys = (
  on: Reader,
  organizationIds: readonly string[],
): Promise<Map<string, () => LimitedKey[]>> =>
  on.read(function* (nowMs) {
    const stamps = yield* newestStamps(organizationIds);
    const found = new Map<string, () => LimitedKey[]>();
    // Almost always one day for all of them.
    const byDay = Map.groupBy(organizationIds, (id) => utcDay(stampOf(nowMs, stamps.get(id) ?? 0)));
    for (const [day, ids] of byDay) {
      const atMs = day * DAY_MS;
      for (const [id, keys] of yield* keysOn(ids, { atMs, nowMs })) found.set(id, keys);
    }
    return found;
  });

/** The spans do not depend on the time of day. */
function* keysOn(
  ids: readonly string[],
  { atMs, nowMs }: { atMs: number; nowMs: number },
): Query<Map<string, () => LimitedKey[]>> {
  const rows = yield* ask(
    `SELECT k.org_id, k.key_id, k.name, k.limit_nano, k.day_limit_nano, k.week_limit_nano, k.expires_at, k.paused_at,
       k.revoked_at, m.spent, m.held
     FROM api_key k LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ?1
     WHERE k.org_id IN (${placesFrom(2, ids)}) AND (k.revoked_at IS NULL OR k.paused_at IS NOT NULL)
       AND (k.limit_nano IS NOT NULL OR k.day_limit_nano IS NOT NULL OR k.week_limit_nano IS NOT NULL)
     ORDER BY k.org_id, k.created_at, k.key_id`,
    [utcMonth(atMs), ...ids],
  );
  const counting = rows.filter((row) => row["day_limit_nano"] !== null || row["week_limit_nano"] !== null);
  const spends = counting.length === 0 ? null : yield* spendsOn(new Set(counting.map(organizationOf)), atMs);
  const keyOf = (row: SqlRow): LimitedKey[] => {
    if (!["active", "paused"].includes(keyState(lifeOf(row), nowMs))) return [];
    const id = textOf(row["key_id"]);
    const limits = limitsOf(row);
    const spend = countsDays(limits) ? (spends?.get(id) ?? NOTHING_SPENT) : null;
    return [
      { id, name: textOf(row["name"]), spans: spansOf(limits, { month: spentInMonth(row), spend, atMs }) },
    ];
  };
  return new Map([...Map.groupBy(rows, organizationOf)].map(([id, keys]) => [id, () => keys.flatMap(keyOf)]));
}

const organizationOf = (row: SqlRow): string => textOf(row["org_id"]);

function* spendsOn(organizations: ReadonlySet<string>, atMs: number) {
  const ids = [...organizations];
  // The statement uses `?3` for the first hour; two values that are always equal come before it.
  const days = spentByDay(
    `SELECT org_id, key_id FROM api_key WHERE ?1 = ?2 AND org_id IN (${placesFrom(4, ids)})
       AND (revoked_at IS NULL OR paused_at IS NOT NULL)
       AND (day_limit_nano IS NOT NULL OR week_limit_nano IS NOT NULL)`,
    sumColumn("u.charge", "charge"),
  );
  const holds = `${notedHolds("key_hold h")}
    WHERE h.org_id IN (${placesFrom(1, ids)}) AND r.closed_txn IS NULL AND r.request_id IS NOT NULL`;
  return spendsIn(yield* ask(days, ["", "", weekFromHour(atMs), ...ids]), yield* ask(holds, ids));
}
