// Spend of a window beside the window before it, in whole hours of the roll-ups: in all, and of the dearest keys or models.
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { percentChange } from "../domain/price-comparison.ts";
import { type RawBuilder, sql as fragment } from "kysely";
import { exact, exactTotal, exactUsd, from, magnitude, rowsOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { monthOf, type Window } from "./windows.ts";

const HOUR_MS = 3_600_000;

/** Hours since the epoch; `to` and `beforeTo` are the first ones behind. */
export interface Hours {
  from: number;
  to: number;
  beforeFrom: number;
  beforeTo: number;
}

/**
 * The hours of a window, the running one included, and as many before it; of a month the first ones of the month before,
 * and no more than that had.
 */
export function hoursOf({ fromMs, toMs }: Window, byMonth: boolean): Hours {
  const first = Math.floor(fromMs / HOUR_MS);
  const behind = Math.floor(toMs / HOUR_MS) + 1;
  const length = behind - first;
  const beforeFrom = byMonth ? monthOf(fromMs - 1) / HOUR_MS : first - length;
  return { from: first, to: behind, beforeFrom, beforeTo: Math.min(first, beforeFrom + length) };
}

export interface SpendBeside {
  requests: number;
  charge_usd: string;
  before_usd: string;
  /** With a sign, like `+20.0`; null where nothing came before. */
  percent: string | null;
}

/** All of it. */
export async function spendBeside(sql: Sql, organizationId: string, hours: Hours): Promise<SpendBeside> {
  const query = rollUps(organizationId, hours).select((eb) => [
    exactTotal(within(hours, eb.ref("requests"))).as("counted"),
    exactTotal(within(hours, eb.ref("charge"))).as("spent"),
    exactTotal(before(hours, eb.ref("charge"))).as("earlier"),
  ]);
  return printed(await theRow(sql, query));
}

/** The dearest of the window, each beside what it was before; what was not used in it is not among them. */
export async function dearestBeside(
  sql: Sql,
  organizationId: string,
  { hours, column, most }: { hours: Hours; column: "key_id" | "model"; most: number },
): Promise<{ group: string; spent: NanoUsd; beside: SpendBeside }[]> {
  const query = rollUps(organizationId, hours)
    .groupBy(column)
    .select((eb) => [
      eb.ref(column).as("name"),
      exactTotal(within(hours, eb.ref("requests"))).as("counted"),
      exactTotal(within(hours, eb.ref("charge"))).as("spent"),
      exactTotal(before(hours, eb.ref("charge"))).as("earlier"),
    ])
    .orderBy((eb) => magnitude(within(hours, eb.ref("charge"))), "desc")
    .orderBy((eb) => magnitude(within(hours, eb.ref("requests"))), "desc")
    .orderBy("name")
    .limit(most);
  return (await rowsOf(sql, query)).flatMap(({ name, ...sums }) =>
    exact(sums.counted) === 0n ? [] : [{ group: name, spent: exactUsd(sums.spent), beside: printed(sums) }],
  );
}

const rollUps = (organizationId: string, { beforeFrom, to }: Hours) =>
  from
    .selectFrom("usage_hour")
    .where("org_id", "=", organizationId)
    .where("hour", ">=", BigInt(beforeFrom))
    .where("hour", "<", BigInt(to));

type Column = Parameters<typeof exactTotal>[0];
const hour = fragment.ref<bigint>("hour");
/** Literals, so that the same text is the same expression wherever it stands. */
const within = (hours: Hours, of: Column): RawBuilder<bigint> =>
  fragment`CASE WHEN ${hour} >= ${fragment.lit(hours.from)} THEN ${of} ELSE 0 END`;
const before = (hours: Hours, of: Column): RawBuilder<bigint> =>
  fragment`CASE WHEN ${hour} < ${fragment.lit(hours.beforeTo)} THEN ${of} ELSE 0 END`;

function printed(sums: {
  counted: string | null;
  spent: string | null;
  earlier: string | null;
}): SpendBeside {
  const [now, earlier] = [exactUsd(sums.spent), exactUsd(sums.earlier)];
  return {
    requests: Number(exact(sums.counted)),
    charge_usd: formatUsd(now),
    before_usd: formatUsd(earlier),
    percent: percentChange(earlier, now),
  };
}
