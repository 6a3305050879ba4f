// The window of time that a page shows: a range that ends now, or two instants. Days and months are UTC.
import { DAY_MS } from "../domain/durations.ts";
import { Refusal } from "../domain/refusals.ts";
import { printTime } from "../domain/print.ts";
import { readTime } from "../domain/read.ts";
import type { TimeRange } from "../domain/usage-words.ts";

/** As in a page's query: `from` and `to` are ISO 8601 dates or instants. */
export interface AskedWindow {
  range?: TimeRange | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** Milliseconds since the epoch; `toMs` itself is excluded. */
export interface Window {
  fromMs: number;
  toMs: number;
}

const DAYS = { "24h": 1, "7d": 7, "30d": 30 } as const;

/** Default: the current month. If `to` is a date, that day is excluded. */
export function windowOf({ range, from, to }: AskedWindow, nowMs: number): Window {
  if (range !== undefined && range !== "month") return { fromMs: nowMs - DAYS[range] * DAY_MS, toMs: nowMs };
  const toMs = to === undefined ? nowMs : readTime(to, "to");
  const fromMs = from === undefined ? monthOf(toMs) : readTime(from, "from");
  if (fromMs >= toMs) throw new Refusal("invalid_request", "from must be before to.", { param: "from" });
  return { fromMs, toMs };
}

/** The window only if one was requested: otherwise lists go back to the beginning. */
export function windowIfAsked(asked: AskedWindow, nowMs: number): Partial<Window> {
  if (asked.range === undefined && asked.from === undefined && asked.to === undefined) return {};
  const { range, from, to } = asked;
  if (range === undefined && from === undefined) return { toMs: readTime(to ?? "", "to") };
  if (range === undefined && to === undefined) return { fromMs: readTime(from ?? "", "from") };
  return windowOf(asked, nowMs);
}

/** The window fixed at this moment: a file written page by page must use the same one for every page. */
export function standingWindow<Asked extends AskedWindow>(asked: Asked, nowMs: number): Asked {
  if (asked.range === undefined) return asked;
  const { fromMs, toMs } = windowOf(asked, nowMs);
  return { ...asked, range: undefined, from: printTime(fromMs), to: printTime(toMs) };
}

/** The first instant of this instant's UTC day. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** The first instant of this instant's UTC month. */
export function monthOf(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}
