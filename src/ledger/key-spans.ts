// The periods that a key's limits cover: the UTC month, the UTC day, the week from Monday. A day and a week
// have no counters of their own (docs/decisions/0059-settings-of-keys.md): their spend comes from the hours
// of the key's usage, and their held amount is the month's without the requests admitted before the period.
import { addUsd, maxUsd, type NanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { DAY_MS } from "../domain/durations.ts";
import { nextUtcMonth, utcDay, utcMonth, weekOf } from "../lib/clock.ts";

export type Period = "day" | "week" | "month";

/** The name of the limit in texts for people. */
export const LIMIT_NAMES: Readonly<Record<Period, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
};

/** Null means no limit. */
export interface KeyLimits {
  limit: NanoUsd | null;
  dayLimit: NanoUsd | null;
  weekLimit: NanoUsd | null;
}

/** An open request that was noted for its key because the key had such a limit. */
export interface NotedHold {
  requestId: string;
  admittedAtMs: number;
  hold: NanoUsd;
}

/** The data from which a key's days are computed. */
export interface KeySpend {
  /** Spend by day since the Unix epoch, starting no later than this week's Monday. */
  spent: ReadonlyMap<number, NanoUsd>;
  open: readonly NotedHold[];
}

/** A period with a limit, and its current state. */
export interface LimitedSpan {
  period: Period;
  limit: NanoUsd;
  spent: NanoUsd;
  held: NanoUsd;
  /** When it starts from zero again. */
  resetsAtMs: number;
}

/** True if the key counts anything against a limit. */
export const isLimited = (limits: KeyLimits): boolean => limits.limit !== null || countsDays(limits);

/** True if the key needs more than its month's figures. */
export const countsDays = ({ dayLimit, weekLimit }: KeyLimits): boolean =>
  dayLimit !== null || weekLimit !== null;

/** Returns the key's periods that have a limit; `spend` is set if it counts days. */
export function spansOf(
  limits: KeyLimits,
  { month, spend, atMs }: { month: { spent: NanoUsd; held: NanoUsd }; spend: KeySpend | null; atMs: number },
): readonly LimitedSpan[] {
  const today = utcDay(atMs);
  const monday = weekOf(today);
  const since = (period: Period, limit: NanoUsd | null, fromDay: number, days: number): LimitedSpan[] =>
    limit === null || spend === null
      ? []
      : [
          {
            period,
            limit,
            spent: spentSince(spend, fromDay),
            held: heldSince(spend, { fromDay, month: utcMonth(atMs), held: month.held }),
            resetsAtMs: (fromDay + days) * DAY_MS,
          },
        ];
  return [
    ...since("day", limits.dayLimit, today, 1),
    ...since("week", limits.weekLimit, monday, 7),
    ...(limits.limit === null
      ? []
      : [{ period: "month" as const, limit: limits.limit, ...month, resetsAtMs: nextUtcMonth(atMs) }]),
  ];
}

/** True at the limit or above, so at most the request that crosses the limit goes over. */
const isReached = ({ limit, spent, held }: LimitedSpan): boolean => addUsd(spent, held) >= limit;

/** Returns the reached period that resets last; undefined if none is reached. */
export const reachedOf = (spans: readonly LimitedSpan[]): LimitedSpan | undefined =>
  spans.length === 0 ? undefined : spans.filter(isReached).toSorted((a, b) => b.resetsAtMs - a.resetsAtMs)[0];

/** Returns what is left until the first of them is reached; null if there are none. */
export function leftOf(spans: readonly LimitedSpan[]): NanoUsd | null {
  if (spans.length === 0) return null;
  const left = spans.map(({ limit, spent, held }) => maxUsd(ZERO_USD, subUsd(limit, addUsd(spent, held))));
  return left.reduce((least, one) => (one < least ? one : least));
}

const spentSince = ({ spent }: KeySpend, fromDay: number): NanoUsd =>
  [...spent].reduce((sum, [day, charge]) => (day >= fromDay ? addUsd(sum, charge) : sum), ZERO_USD);

/** Excludes what was admitted before the period's first day, and includes what a week holds from the month before. */
function heldSince(
  { open }: KeySpend,
  { fromDay, month, held }: { fromDay: number; month: string; held: NanoUsd },
): NanoUsd {
  let sum = held;
  for (const { admittedAtMs, hold } of open) {
    const ofMonth = utcMonth(admittedAtMs) === month;
    const ofSpan = utcDay(admittedAtMs) >= fromDay;
    if (ofMonth && !ofSpan) sum = subUsd(sum, hold);
    if (!ofMonth && ofSpan) sum = addUsd(sum, hold);
  }
  return maxUsd(ZERO_USD, sum);
}
