// Times on the command line: RFC 3339, a date, or a span from now such as `30d`.
import { DAY_MS, HOUR_MS } from "../src/domain/durations.ts";

const SPAN_MS: Record<string, number> = { s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS };
const SPAN = /^(\d{1,6})([smhd])$/;

/** The span in milliseconds; null if the text is not a span. */
export function spanMs(text: string): number | null {
  const match = SPAN.exec(text);
  return match === null ? null : Number(match[1]) * (SPAN_MS[match[2] ?? ""] ?? 0);
}

/**
 * Turns a span into the instant that long after `nowMs`. Anything else is returned unchanged, for the gateway to read
 * or refuse.
 */
export function instantOf(text: string, nowMs: number): string {
  const ms = spanMs(text);
  return ms === null ? text : new Date(nowMs + ms).toISOString();
}
