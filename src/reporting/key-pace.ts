// Predicts when a key reaches its monthly limit. The rule: its spend over the last seven full days, divided
// by as many of them as it has existed, continues evenly from now. No prediction before it has spent on three
// of them, nor beyond the end of the month, when the count is reset.
import { nanoUsd, type NanoUsd, ZERO_USD } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { spentByDay } from "../ledger/key-spend.ts";
import { DAY_MS } from "../domain/durations.ts";
import { nextUtcMonth, utcDay } from "../lib/clock.ts";
import { sumColumn, sumOf } from "../store/exact-sum.ts";
import { numberOf, type Sql, textOf } from "../store/sql.ts";

const DAYS = 7;
const DAYS_WITH_SPEND_MIN = 3;

/** Over the seven full days before today. */
export interface KeyPace {
  spent: NanoUsd;
  daysWithSpend: number;
}

const spentOf = (ids: readonly string[]) =>
  spentByDay(
    `SELECT org_id, key_id FROM api_key WHERE org_id = ?1 AND limit_nano IS NOT NULL
       AND key_id IN (${["?2", ...ids.slice(1).map((_, n) => `?${n + 4}`)].join(", ")})`,
    sumColumn("u.charge", "charge"),
  );

/** For those of these keys that have a monthly limit. */
export async function keyPaces(
  sql: Sql,
  { organizationId, ids, nowMs }: { organizationId: string; ids: readonly string[]; nowMs: number },
): Promise<Map<string, KeyPace>> {
  const today = utcDay(nowMs);
  const paces = new Map<string, KeyPace>();
  const [first, ...others] = ids;
  if (first === undefined) return paces;
  const from = (today - DAYS) * 24;
  for (const row of await sql.rows(spentOf(ids)[sql.dialect], organizationId, first, from, ...others)) {
    const charge = sumOf(row, "charge");
    if (numberOf(row["day"]) >= today || charge === 0n) continue;
    const id = textOf(row["key_id"]);
    const { spent, daysWithSpend } = paces.get(id) ?? { spent: ZERO_USD, daysWithSpend: 0 };
    paces.set(id, { spent: nanoUsd(spent + charge), daysWithSpend: daysWithSpend + 1 });
  }
  return paces;
}

interface Bounded {
  limit: NanoUsd;
  monthSpend: NanoUsd;
  createdAtMs: number;
}

/** The UTC day, `YYYY-MM-DD`; null means not this month, already reached, or not enough data. */
export function reachesLimitOn(
  { limit, monthSpend, createdAtMs }: Bounded,
  pace: KeyPace | undefined,
  nowMs: number,
): string | null {
  if (pace === undefined || pace.daysWithSpend < DAYS_WITH_SPEND_MIN || monthSpend >= limit) return null;
  const age = utcDay(nowMs) - utcDay(createdAtMs); // NaN for a damaged row
  const days = Number.isFinite(age) ? Math.min(DAYS, Math.max(pace.daysWithSpend, age)) : DAYS;
  const left = limit - monthSpend;
  const inMs = (left * BigInt(days * DAY_MS)) / pace.spent;
  const atMs = BigInt(nowMs) + inMs;
  return atMs < BigInt(nextUtcMonth(nowMs)) ? printTime(Number(atMs)).slice(0, "2026-11-26".length) : null;
}
