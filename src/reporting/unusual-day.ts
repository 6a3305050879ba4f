// Whether today is an unusual day, and because of which key or model
// (docs/decisions/0057-what-an-overview-dares-to-say.md): from the hourly roll-ups, in integers throughout.
// Reports nothing if there is too little to compare with.
import { DAY_MS } from "../domain/durations.ts";
import { formatUsd, type NanoUsd, nanoUsd, subUsd } from "../domain/money.ts";
import { sql as fragment } from "kysely";
import type { z } from "zod";
import type * as overviewShapes from "../api/shapes/overview.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { hoursUsed } from "./hours-used.ts";
import type { LabelBook } from "./labels.ts";
import { dearestBeside } from "./spend-beside.ts";
import { dayOf } from "./windows.ts";

type UnusualDay = NonNullable<z.output<typeof overviewShapes.overview>["unusual"]>;

const HOURS = 24;
/** The number of days before today that are examined. */
const HISTORY_DAYS = 28;
/** At least this many of them must have had usage: fewer make no habit. */
const USED_DAYS_MIN = 7;
const TIMES_MIN = 3n;
/** Ten cents: a smaller excess is not worth a look, whatever the ratio. */
const EXCESS_MIN = nanoUsd(100_000_000n);
/** The percentage of today's spend from which a key or a model is named. */
const NAMED_FROM_PERCENT = 50;

/**
 * Null for a usual day. A usual day is the median of those of the last 28 with any spend; today, though not
 * over, is unusual at three times that and ten cents more. `days`: the spend of each day.
 */
export function unlike(
  days: readonly NanoUsd[],
  today: NanoUsd,
): Pick<UnusualDay, "usual_usd" | "times"> | null {
  const used = days.filter((spent) => spent > 0n).toSorted((a, b) => (a < b ? -1 : 1));
  const usual = used[Math.floor(used.length / 2)];
  if (used.length < USED_DAYS_MIN || usual === undefined) return null;
  if (today < usual * TIMES_MIN || subUsd(today, usual) < EXCESS_MIN) return null;
  const tenths = (today * 10n) / usual;
  return { usual_usd: formatUsd(usual), times: `${tenths / 10n}.${tenths % 10n}` };
}

/** Null for a usual day. A key or a model is named if it accounts for at least half of the day's spend. */
export async function unusualDayOf(
  on: { sql: Sql; labels: LabelBook },
  organizationId: string,
  nowMs: number,
): Promise<UnusualDay | null> {
  const today = dayOf(nowMs) / DAY_MS;
  const spent = await spendByDay(on.sql, organizationId, today);
  const now = spent.get(today) ?? nanoUsd(0n);
  spent.delete(today);
  const found = unlike([...spent.values()], now);
  if (found === null) return null;
  const from = today * HOURS;
  const hours = { from, to: from + HOURS, beforeFrom: from, beforeTo: from };
  const largest = async (column: "key_id" | "model"): Promise<{ group: string; percent: number } | null> => {
    const [one] = await dearestBeside(on.sql, organizationId, { hours, column, most: 1 });
    const percent = one === undefined ? 0 : Number((one.spent * 100n) / now);
    return one === undefined || percent < NAMED_FROM_PERCENT ? null : { group: one.group, percent };
  };
  const [key, model] = [await largest("key_id"), await largest("model")];
  const names = key === null ? null : await on.labels.keysOf(organizationId, [key.group]);
  return {
    spent_usd: formatUsd(now),
    ...found,
    key: key && { id: key.group, name: names?.get(key.group)?.name ?? key.group, percent: key.percent },
    model: model && { id: model.group, percent: model.percent },
  };
}

/** By the number of the UTC day. */
async function spendByDay(sql: Sql, organizationId: string, today: number): Promise<Map<number, NanoUsd>> {
  const day = fragment<bigint>`hour / ${fragment.lit(HOURS)}`;
  const span = { first: (today - HISTORY_DAYS) * HOURS, behind: (today + 1) * HOURS };
  const query = hoursUsed(sql, organizationId, span)
    .groupBy(day)
    .select((eb) => [day.as("day"), exactTotal(eb.ref("charge")).as("spent")]);
  return new Map((await rowsOf(sql, query)).map((row) => [Number(row.day), exactUsd(row.spent)]));
}
