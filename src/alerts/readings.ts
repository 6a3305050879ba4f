// Evaluates each rule now: pure functions over figures of the ledger, the route table and the payments room.
// A figure that would hover around its threshold must pass a margin before it counts as over, so that one
// crossing is one message.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import { counted } from "../domain/counted.ts";
import { preciseUsd } from "../domain/short-usd.ts";
import { addUsd, formatUsd, type NanoUsd, subUsd } from "../domain/money.ts";
import { printDay, printMinute, printTimeOrNull } from "../domain/print.ts";
import type { Reading, Rule } from "./alert.ts";
import type { BalanceRecord } from "../ledger/records.ts";
import type { Period } from "../ledger/key-spans.ts";
import { utcMonth } from "../lib/clock.ts";
import type { LimitedKey } from "../registry/limited-keys.ts";

/** The requests of a time window, and how many of them ended without an answer. */
export interface Outcomes {
  requests: number;
  failed: number;
}

export interface WatchedRoute {
  route: string;
  model: string;
  state: string;
  /** Null if its release is damaged and the expiry is unknown. */
  expiresAtMs: number | null;
}

/**
 * The figures that the rules of one organization are evaluated on: money in nano-USD, instants in
 * milliseconds since the epoch.
 */
export interface Figures {
  balance(): Promise<BalanceRecord | null>;
  /** Sum of the charges of requests admitted since an instant. */
  spentSince(sinceMs: number): Promise<NanoUsd>;
  /** Live and paused keys that have a limit. */
  keys(): Promise<LimitedKey[]>;
  /** Requests admitted since an instant, and those that ended without an answer. */
  outcomesSince(sinceMs: number): Promise<Outcomes>;
  /** Routes of the models that the organization used in the past week. */
  routes(): Promise<WatchedRoute[]>;
  topUpFailure(): Promise<string | null>;
  nowMs(): number;
}

const FEW_REQUESTS = 20;
const STALE_WITHIN_MS = 48 * HOUR_MS;

/** Evaluates a rule: one reading per subject. A subject that is no longer returned has ended. */
export function readingsOf(rule: Rule, figures: Figures): Promise<Reading[]> {
  switch (rule.kind) {
    case "balance_below":
      return balanceBelow(rule, figures);
    case "days_left_below":
      return daysLeft(rule, figures);
    case "spend_per_day":
      return spendPerDay(rule, figures);
    case "key_limit":
      return keyLimit(rule, figures);
    case "error_rate":
      return errorRate(rule, figures);
    case "route_not_live":
      return routes(figures);
    case "auto_top_up_failed":
      return topUpFailed(figures);
  }
}

/**
 * Held credits still belong to the organization; subtracting them would let every open request trigger the
 * alert.
 */
const ownedBy = ({ available, held, debt }: BalanceRecord): NanoUsd => subUsd(addUsd(available, held), debt);

async function balanceBelow({ amount }: Rule, figures: Figures): Promise<Reading[]> {
  const balance = await figures.balance();
  if (balance === null || amount === null) return [];
  const owned = ownedBy(balance);
  return [
    {
      subject: "organization",
      standing: owned < amount ? "crossed" : "clear",
      text: `The balance is ${preciseUsd(owned)}, below ${preciseUsd(amount)}.`,
      facts: { balance_usd: formatUsd(owned), threshold_usd: formatUsd(amount) },
    },
  ];
}

async function daysLeft({ days }: Rule, figures: Figures): Promise<Reading[]> {
  const balance = await figures.balance();
  if (balance === null || days === null) return [];
  const week = await figures.spentSince(figures.nowMs() - 7 * DAY_MS);
  const owned = ownedBy(balance);
  // Integers throughout: tenths of a day, and a tenth above the threshold before it is over.
  const tenths = week === 0n ? null : (owned * 70n) / week;
  const left = tenths === null ? null : Number(tenths) / 10;
  const isOver = tenths === null || owned * 70n >= BigInt(days * 11) * week;
  const isLess = owned * 7n < BigInt(days) * week;
  const lasts = left === null ? "forever" : counted(Math.max(left, 0), "day");
  return [
    {
      subject: "organization",
      standing: isOver ? "clear" : isLess ? "crossed" : "between",
      text: `At the pace of the past 7 days the balance lasts ${lasts}, less than ${counted(days, "day")}.`,
      facts: { days_left: left, threshold_days: days, balance_usd: formatUsd(owned) },
    },
  ];
}

async function spendPerDay({ amount }: Rule, figures: Figures): Promise<Reading[]> {
  if (amount === null) return [];
  const today = figures.nowMs() - (figures.nowMs() % DAY_MS);
  const spent = await figures.spentSince(today);
  const day = printDay(today);
  return [
    {
      subject: day,
      standing: spent > amount ? "crossed" : "clear",
      text: `Today (${day} UTC) ${preciseUsd(spent)} was spent, more than ${preciseUsd(amount)}.`,
      facts: { day, spent_usd: formatUsd(spent), threshold_usd: formatUsd(amount) },
    },
  ];
}

/** The period that ends then: its month, or its first day. */
const WHEN: Readonly<Record<Period, (endMs: number) => string>> = {
  day: (endMs) => printDay(endMs - DAY_MS),
  week: (endMs) => printDay(endMs - 7 * DAY_MS),
  month: (endMs) => utcMonth(endMs - 1),
};
/** The same for a sentence; a month by its name, for readers of mail. */
const SPENT_IN: Readonly<Record<Period, (when: string) => string>> = {
  day: (when) => `on ${when}`,
  week: (when) => `in the week of ${when}`,
  month: (when) => `in ${MONTH.format(new Date(when))}`,
};
/** Formats `2026-11` as `November 2026`. */
const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

async function keyLimit({ keyId, percent }: Rule, figures: Figures): Promise<Reading[]> {
  if (percent === null) return [];
  const watched = (await figures.keys()).filter(({ id }) => keyId === null || keyId === id);
  return watched.flatMap(({ id, name, spans }) =>
    spans.map(({ period, limit, spent, resetsAtMs }) => {
      const when = WHEN[period](resetsAtMs);
      return {
        subject: period === "month" ? `${id} ${when}` : `${id} ${period} ${when}`,
        standing: spent * 100n >= limit * BigInt(percent) ? "crossed" : "clear",
        text: `The key ${name} has spent ${preciseUsd(spent)} of its ${preciseUsd(limit)} ${SPENT_IN[period](when)}, at least ${percent} %.`,
        facts: {
          key: id,
          key_name: name,
          period,
          [period]: when,
          spent_usd: formatUsd(spent),
          limit_usd: formatUsd(limit),
          percent,
        },
      };
    }),
  );
}

async function errorRate({ percent }: Rule, figures: Figures): Promise<Reading[]> {
  if (percent === null) return [];
  const { requests, failed } = await figures.outcomesSince(figures.nowMs() - HOUR_MS);
  const rate = requests === 0 ? 0 : (failed * 100) / requests;
  const standing = requests < FEW_REQUESTS ? "between" : against(rate - percent, { margin: percent * 0.2 });
  return [
    {
      subject: "organization",
      standing: requests === 0 ? "clear" : standing,
      text: `In the past hour ${failed} of ${counted(requests, "request")} failed, at least ${percent} %.`,
      facts: { requests, failed, percent },
    },
  ];
}

async function routes(figures: Figures): Promise<Reading[]> {
  const nowMs = figures.nowMs();
  return (await figures.routes()).map(({ route, model, state, expiresAtMs }) => {
    const expires = printTimeOrNull(expiresAtMs);
    const endsMs = state === "live" && expiresAtMs !== null ? expiresAtMs : Number.POSITIVE_INFINITY;
    const soon = endsMs - nowMs < STALE_WITHIN_MS;
    return {
      subject: soon ? `${route} expires ${expires}` : route,
      // A circuit that opens briefly is not news.
      standing: soon || state === "disabled" || state === "stale" ? "crossed" : "clear",
      text: soon
        ? `The release of route ${route} expires on ${printMinute(endsMs)}; without a newer one, ${model} is no longer served on it.`
        : `Route ${route} of ${model} is ${state}.`,
      facts: { route, model, state, expires_at: expires },
    };
  });
}

async function topUpFailed(figures: Figures): Promise<Reading[]> {
  const reason = await figures.topUpFailure();
  return [
    {
      subject: "organization",
      standing: reason === null ? "clear" : "crossed",
      text: `The automatic top-up failed: ${reason ?? ""}`,
      facts: { reason },
    },
  ];
}

/** `over` at or above 0 has crossed; it clears only at the margin below 0. */
const against = (over: number, { margin }: { margin: number }): Reading["standing"] =>
  over >= 0 ? "crossed" : over > -margin ? "between" : "clear";
