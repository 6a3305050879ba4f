// The hourly usage of a month is a separate partition, created ahead of time, so that an old month is dropped
// with one `DROP TABLE`. Rows without a partition go to `usage_hour_other`, so nothing waits for this.
import { nextUtcMonth, utcMonth } from "../../lib/clock.ts";
import { hourOf } from "../decide/resolution.ts";
import { type Asking, askOnce } from "./query.ts";

const MONTHS_AHEAD = 2;

/** For example `usage_hour_2026_11`. */
const tableOfMonth = (ms: number): string => `usage_hour_${utcMonth(ms).replace("-", "_")}`;

/**
 * Creates missing partitions for this month and the next ones, and for earlier ones from `fromMs`.
 * Returns false if another long transaction blocked one of them.
 */
export async function makeMonths(on: Asking, nowMs: number, fromMs = nowMs): Promise<boolean> {
  const months: number[] = [];
  for (let ms = fromMs, ahead = 0; ahead <= MONTHS_AHEAD; ms = nextUtcMonth(ms)) {
    months.push(ms);
    if (nextUtcMonth(ms) > nowMs) ahead += 1;
  }
  const names = months.map(tableOfMonth);
  const rows = await askOnce(on, "SELECT relname::text FROM pg_class WHERE relname = ANY($1::text[])", [
    names,
  ]);
  const made = new Set(rows.map(([name]) => name));
  for (const ms of months) if (!made.has(tableOfMonth(ms)) && !(await makeMonth(on, ms))) return false;
  return true;
}

/**
 * Creating a partition waits for every user of the table, such as an hour-long dump, and every writer
 * of a charge meanwhile waits behind it. This limit is just longer than a batch takes.
 */
const WAITS_MS = 100;
const LOCKED = "55P03";

async function makeMonth(on: Asking, ms: number): Promise<boolean> {
  const from = hourOf(Date.parse(`${utcMonth(ms)}-01T00:00:00Z`));
  const to = hourOf(nextUtcMonth(ms));
  try {
    await askOnce(
      on,
      `DO $$ BEGIN
         PERFORM set_config('lock_timeout', '${WAITS_MS}ms', true);
         CREATE TABLE IF NOT EXISTS ${tableOfMonth(ms)} PARTITION OF usage_hour FOR VALUES FROM (${from}) TO (${to});
       END $$`,
    );
    return true;
  } catch (error) {
    const { code = "" } = error as { code?: string };
    // Rows of that month are already in `usage_hour_other`, or another gateway is creating it right now: both are fine.
    if (code !== LOCKED && !EXPECTED.has(code)) throw error;
    return code !== LOCKED;
  }
}

/** check_violation, duplicate_table, unique_violation (of the catalog). */
const EXPECTED = new Set(["23514", "42P07", "23505"]);
