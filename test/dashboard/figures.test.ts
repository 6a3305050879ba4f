// Formatted figures: no more digits than are meaningful, and never a larger share than there is.
import { expect, test } from "bun:test";
import { changeText } from "../../dashboard/components/change-text.ts";
import { counted, formatShare } from "../../dashboard/format/count.ts";
import { readableTimes, relativeTime } from "../../dashboard/format/time.ts";

test("only exactly nothing or all is a round share; almost all is not all", () => {
  expect([formatShare(0, 7), formatShare(7, 7), formatShare(1, 8), formatShare(1, 0)]).toEqual([
    "0 %",
    "100 %",
    "12.5 %",
    "–",
  ]);
  expect(formatShare(99_999, 100_000)).toBe("99.9 %");
  expect(formatShare(1, 100_000)).toBe("0.1 %");
});

test("one is singular, none and several are plural", () => {
  expect([counted(0, "request"), counted(1, "request"), counted(12_345, "request")]).toEqual([
    "0 requests",
    "1 request",
    "12,345 requests",
  ]);
  expect([counted("1", "entry", "entries"), counted("2", "entry", "entries")]).toEqual([
    "1 entry",
    "2 entries",
  ]);
});

test("a change has as many digits as are meaningful, and becomes a factor where percents are not", () => {
  const changes = ["+6.7", "-38.2", "+99.9", "+418.8", "+999.9", "+1000.0", "+1602.4", "+120000.0", "+0.0"];
  expect(changes.map(changeText)).toEqual([
    "▲ 6.7 %",
    "▼ 38.2 %",
    "▲ 99.9 %",
    "▲ 418 %",
    "▲ 999 %",
    "▲ 11 ×",
    "▲ 17 ×",
    "▲ 1,201 ×",
    "as before",
  ]);
  expect(changeText(null)).toBe("new");
});

test("a past time is given in its largest unit", () => {
  const ago = (seconds: number): string =>
    relativeTime("2026-11-23T12:00:00Z", Date.parse("2026-11-23T12:00:00Z") + seconds * 1000);
  expect([5, 59, 60, 114, 119, 3599, 3600, 6840, 7200, 172_800].map(ago)).toEqual([
    "just now",
    "59 s ago",
    "1 min ago",
    "1 min ago",
    "1 min ago",
    "59 min ago",
    "1 h ago",
    "1 h ago",
    "2 h ago",
    "2 d ago",
  ]);
});

test("the times in the gateway's sentences get the pages' format, and nothing else is changed", () => {
  const now = new Date("2026-11-23T12:00:00Z");
  expect(readableTimes("It works again from 2026-12-01 00:00 UTC, or 2027-01-02 UTC.", now)).toBe(
    "It works again from 1 Dec at 00:00 UTC, or 2 Jan 2027 UTC.",
  );
  for (const left of ["key 2026-12-01", "2026-13-45 10:00 UTC", "in 2026-11"])
    expect(readableTimes(left, now)).toBe(left);
});
