// The spans of time that a key's limits count over: the UTC month, the UTC day, the week from Monday. A day and a week have no
// counters of their own (docs/decisions/0059-settings-of-keys.md): what they spent is in the hours of its usage, what they hold
// is what the month holds, without the requests that were admitted before them.
import { addUsd, maxUsd, type NanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { DAY_MS } from "../domain/durations.ts";
import { nextUtcMonth, utcDay, utcMonth, weekOf } from "../lib/clock.ts";

export type Period = "day" | "week" | "month";

/** As its reader is told of the limit. */
export const LIMIT_NAMES: Readonly<Record<Period, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
};

/** Null: none. */
export interface KeyLimits {
  limit: NanoUsd | null;
  dayLimit: NanoUsd | null;
  weekLimit: NanoUsd | null;
}

/** An open request that was noted beside its key, because its key had such a limit. */
export interface NotedHold {
  requestId: string;
  admittedAtMs: number;
  hold: NanoUsd;
}

/** What a key's days are told from. */
export interface KeySpend {
  /** By day since the Unix epoch, from the Monday of this week on at the latest. */
  spent: ReadonlyMap<number, NanoUsd>;
  open: readonly NotedHold[];
}

/** A span that has a limit, as it stands. */
export interface LimitedSpan {
  period: Period;
  limit: NanoUsd;
  spent: NanoUsd;
  held: NanoUsd;
  /** When it counts from zero again. */
  resetsAtMs: number;
}

/** Whether a key counts anything against a limit. */
export const isLimited = (limits: KeyLimits): boolean => limits.limit !== null || countsDays(limits);

/** Whether more must be known of a key than its month. */
export const countsDays = ({ dayLimit, weekLimit }: KeyLimits): boolean =>
  dayLimit !== null || weekLimit !== null;

/** The spans of the key that have a limit; `spend` is there where it counts days. */
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

/** At its limit or above: so at most the request that crosses it goes over. */
const isReached = ({ limit, spent, held }: LimitedSpan): boolean => addUsd(spent, held) >= limit;

/** The one that opens last of those that are reached; undefined: none is. */
export const reachedOf = (spans: readonly LimitedSpan[]): LimitedSpan | undefined =>
  spans.length === 0 ? undefined : spans.filter(isReached).toSorted((a, b) => b.resetsAtMs - a.resetsAtMs)[0];

/** What is left until the first of them is reached; null without one. */
export function leftOf(spans: readonly LimitedSpan[]): NanoUsd | null {
  if (spans.length === 0) return null;
  const left = spans.map(({ limit, spent, held }) => maxUsd(ZERO_USD, subUsd(limit, addUsd(spent, held))));
  return left.reduce((least, one) => (one < least ? one : least));
}

const spentSince = ({ spent }: KeySpend, fromDay: number): NanoUsd =>
  [...spent].reduce((sum, [day, charge]) => (day >= fromDay ? addUsd(sum, charge) : sum), ZERO_USD);

/** What was admitted before its first day is not of it, and what the week has from the month before is. */
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
