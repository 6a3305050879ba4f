// Times are shown in UTC, with the reader's own time in the tooltip. Days are `YYYY-MM-DD` strings throughout, so
// that no local midnight creeps in.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/domain/durations.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
/** Created once each: creating one costs as much as printing a hundred times. The zone is the reader's own. */
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const ZONE = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
const two = (value: number): string => String(value).padStart(2, "0");
const dayOf = (at: Date): string => `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ""}`;

/** `21 Nov 09:30:05 UTC`; with the year if it is not the current one. */
export function formatTime(rfc3339: string, now: Date = new Date()): string {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return rfc3339;
  const clock = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  return `${dayWithYear(at, now)} ${clock} UTC`;
}

/** `21 Nov 15:15:05 GMT+5:45` in the reader's own zone. */
export function formatLocalTime(rfc3339: string, now: Date = new Date()): string {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return rfc3339;
  const day = `${at.getDate()} ${MONTHS[at.getMonth()] ?? ""}`;
  const year = at.getFullYear() === now.getFullYear() ? "" : ` ${at.getFullYear()}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day}${year} ${clock} ${zoneOf(at)}`;
}

const zoneOf = (at: Date): string =>
  ZONE.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";

/** `21 Nov`; with the year if it is not the current one. Takes a day or a full timestamp. */
export function formatDay(day: string, now: Date = new Date()): string {
  const at = new Date(day.length === 10 ? `${day}T00:00:00Z` : day);
  return Number.isNaN(at.getTime()) ? day : dayWithYear(at, now);
}

const dayWithYear = (at: Date, now: Date): string =>
  at.getUTCFullYear() === now.getUTCFullYear() ? dayOf(at) : `${dayOf(at)} ${at.getUTCFullYear()}`;

/**
 * A sentence of the gateway with its days and minutes in this page's format: `2026-12-01 00:00 UTC` → `1 Dec at 00:00
 * UTC`.
 */
export const readableTimes = (sentence: string, now: Date = new Date()): string =>
  sentence.replace(/\b(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))? UTC\b/g, (written, day: string, clock?: string) => {
    const told = formatDay(day, now);
    return told === day ? written : `${told}${clock === undefined ? "" : ` at ${clock}`} UTC`;
  });

/** `Sat 21 Nov 2026, 10:30:05 GMT+1` in the reader's own zone, for the tooltip. */
export function localTime(rfc3339: string): string {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return rfc3339;
  return FULL.format(at);
}

/** `3 min ago`, `in 12 d`; whole units, rounded down. */
export function relativeTime(rfc3339: string, now: number = Date.now()): string {
  const ms = new Date(rfc3339).getTime() - now;
  if (Number.isNaN(ms)) return rfc3339;
  if (Math.abs(ms) < 10_000) return "just now";
  const span = roughly(Math.abs(ms));
  return ms < 0 ? `${span} ago` : `in ${span}`;
}

/** In the largest unit, even just above one: 114 minutes are hard to read. */
function roughly(ms: number): string {
  if (ms < MINUTE_MS || ms >= 2 * HOUR_MS) return formatSpan(ms);
  return ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : "1 h";
}

/** When a request arrived: its id is a UUIDv7 and begins with the millisecond. Null for any other id. */
export function receivedAt(requestId: string): number | null {
  const [, ms] = /^req_([0-9a-f]{12})7[0-9a-f]{19}$/.exec(requestId) ?? [];
  return ms === undefined ? null : Number.parseInt(ms, 16);
}

/** A duration in its largest unit: `850 ms`, `12 s`, `3 min`, `5 h`, `12 d`. */
export function formatSpan(ms: number): string {
  if (Number.isNaN(ms)) return "unknown"; // an invalid time
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Today in UTC as `YYYY-MM-DD`. */
export const today = (now: Date = new Date()): string => now.toISOString().slice(0, 10);

/** The day this many days later; `""` if `day` is not a day. */
export function addDays(day: string, days: number): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? "" : new Date(at + days * DAY_MS).toISOString().slice(0, 10);
}

/** `21 Nov` or `21 Nov 09:00`: a bucket of a chart that says "UTC" itself. */
export const bucketLabel = (start: string, bucket: "hour" | "day"): string =>
  bucket === "day" ? formatDay(start) : formatTime(start).replace(/:00 UTC$/, "");
