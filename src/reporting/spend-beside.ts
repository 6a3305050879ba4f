// The spend of a window compared with the window before it, in whole roll-up hours: in total, and for the
// most expensive keys or models.
import { HOUR_MS } from "../domain/durations.ts";
import { formatUsd, type NanoUsd, sumUsd } from "../domain/money.ts";
import { percentChange } from "../domain/price-comparison.ts";
import { type RawBuilder, sql as fragment } from "kysely";
import { exact, exactUsd } from "../store/exact-sum.ts";
import { exactTotal, magnitude, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { hoursUsed } from "./hours-used.ts";
import { monthOf, type Window } from "./windows.ts";

/** Hours since the epoch; `to` and `beforeTo` are the first hours after each span. */
export interface Hours {
  from: number;
  to: number;
  beforeFrom: number;
  beforeTo: number;
}

/**
 * The hours of a window, including the running one, and as many before it; for a month, the first hours of
 * the month before, and no more than it had.
 */
export function hoursOf({ fromMs, toMs }: Window, byMonth: boolean): Hours {
  const first = Math.floor(fromMs / HOUR_MS);
  const behind = Math.floor(toMs / HOUR_MS) + 1;
  const length = behind - first;
  const beforeFrom = byMonth ? monthOf(fromMs - 1) / HOUR_MS : first - length;
  return { from: first, to: behind, beforeFrom, beforeTo: Math.min(first, beforeFrom + length) };
}

/** For one key or model, or for all: now, and in the window before. US dollars as decimal text. */
export interface SpendBeside {
  requests: number;
  charge_usd: string;
  before_usd: string;
  /** With a sign, like `+20.0`; null if nothing came before. */
  percent: string | null;
}

/** A model's spend in the window, before it, and since three other hours. */
export interface ModelSpend {
  model: string;
  requests: number;
  spent: NanoUsd;
  earlier: NanoUsd;
  week: NanoUsd;
  today: NanoUsd;
  month: NanoUsd;
  /** The last hour in which it was used. */
  lastHour: number;
}

/** Everything that the overview shows of models and totals, in one read. */
export async function spendByModel(
  sql: Sql,
  organizationId: string,
  hours: Hours & Record<"week" | "today" | "month" | "since", number>,
): Promise<ModelSpend[]> {
  const { week, today, month, since, beforeFrom } = hours;
  const first = Math.min(week, today, month, since, beforeFrom);
  const query = hoursUsed(sql, organizationId, { first })
    .groupBy("model")
    .select((eb) => {
      const charge = eb.ref("charge");
      return [
        "model",
        eb.fn.max("hour").as("last"),
        exactTotal(within(hours, eb.ref("requests"))).as("counted"),
        exactTotal(within(hours, charge)).as("spent"),
        exactTotal(before(hours, charge)).as("earlier"),
        exactTotal(between(week, null, charge)).as("week"),
        exactTotal(between(today, null, charge)).as("today"),
        exactTotal(between(month, null, charge)).as("month"),
      ];
    });
  return (await rowsOf(sql, query)).map(({ model, last, counted, spent, earlier, ...sums }) => ({
    model,
    requests: Number(exact(counted)),
    spent: exactUsd(spent),
    earlier: exactUsd(earlier),
    week: exactUsd(sums.week),
    today: exactUsd(sums.today),
    month: exactUsd(sums.month),
    lastHour: Number(last),
  }));
}

/** The most expensive first, as `dearestBeside` does for keys. */
export const dearestModels = (models: readonly ModelSpend[], most: number): ModelSpend[] =>
  models
    .filter(({ requests }) => requests > 0)
    .toSorted(
      (a, b) =>
        Number(b.spent > a.spent) - Number(b.spent < a.spent) ||
        b.requests - a.requests ||
        (a.model < b.model ? -1 : 1),
    )
    .slice(0, most);

/**
 * The most expensive of the window, each with its spend before; anything not used in the window is left out.
 */
export async function dearestBeside(
  sql: Sql,
  organizationId: string,
  { hours, column, most }: { hours: Hours; column: "key_id" | "model"; most: number },
): Promise<{ group: string; spent: NanoUsd; beside: SpendBeside }[]> {
  const query = hoursUsed(sql, organizationId, { first: hours.beforeFrom, behind: hours.to })
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
  return (await rowsOf(sql, query)).flatMap(({ name, ...sums }) => {
    const [requests, spent] = [Number(exact(sums.counted)), exactUsd(sums.spent)];
    const beside = printBeside([{ requests, spent, earlier: exactUsd(sums.earlier) }]);
    return requests === 0 ? [] : [{ group: name, spent, beside }];
  });
}

type Column = Parameters<typeof exactTotal>[0];
const hour = fragment.ref<bigint>("hour");
/** Literals, so that the same text is the same expression wherever it occurs. */
const between = (first: number, behind: number | null, of: Column): RawBuilder<bigint> =>
  behind === null
    ? fragment`CASE WHEN ${hour} >= ${fragment.lit(first)} THEN ${of} ELSE 0 END`
    : fragment`CASE WHEN ${hour} >= ${fragment.lit(first)} AND ${hour} < ${fragment.lit(behind)} THEN ${of} ELSE 0 END`;
const within = ({ from, to }: Hours, of: Column) => between(from, to, of);
const before = ({ beforeFrom, beforeTo }: Hours, of: Column) => between(beforeFrom, beforeTo, of);

export const printBeside = (
  sums: readonly { requests: number; spent: NanoUsd; earlier: NanoUsd }[],
): SpendBeside => {
  const now = sumUsd(sums.map(({ spent }) => spent));
  const earlier = sumUsd(sums.map((one) => one.earlier));
  return {
    requests: sums.reduce((sum, { requests }) => sum + requests, 0),
    charge_usd: formatUsd(now),
    before_usd: formatUsd(earlier),
    percent: percentChange(earlier, now),
  };
};
