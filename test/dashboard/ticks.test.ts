// The axis labels of charts: every one is exactly the amount or the instant at its place, and none is missing in
// between.
import { expect, test } from "bun:test";
import { shortCount } from "../../dashboard/format/count.ts";
import { formatHeight } from "../../dashboard/format/money.ts";
import { alignPlaces, amountTicks, timeTicks } from "../../dashboard/format/ticks.ts";

const HOUR_MS = 3_600_000;

const startsOf = (first: string, count: number, stepMs: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(first) + at * stepMs).toISOString().replace(".000", ""),
  );

test("amounts rise in round steps without gaps, and the highest bar is below the last", () => {
  const printed = (top: number) => alignPlaces(amountTicks(top, 4, "money").map(formatHeight));
  expect(printed(0.187)).toEqual(["$0.00", "$0.05", "$0.10", "$0.15", "$0.20"]);
  expect(printed(0.0003)).toEqual(["$0.0000", "$0.0001", "$0.0002", "$0.0003"]);
  expect(printed(1234.5)).toEqual(["$0.00", "$500.00", "$1,000.00", "$1,500.00"]);
  expect(printed(2)).toEqual(["$0.00", "$0.50", "$1.00", "$1.50", "$2.00"]);
});

test("whatever the height, each label says its amount exactly, and no two are alike", () => {
  for (let exponent = -9; exponent <= 9; exponent++)
    for (const digits of [1, 1.2, 2.4, 3.3, 4.9, 5.1, 7.5, 9.9])
      for (const steps of [2, 4, 6]) {
        const top = digits * 10 ** exponent;
        const ticks = amountTicks(top, steps, "money");
        const read = ticks.map((tick) => Number(formatHeight(tick).replace(/[$,]/g, "")));
        expect({ top, read }).toEqual({ top, read: ticks.map((tick) => Number(tick.toFixed(9))) });
        expect(new Set(read).size).toBe(ticks.length);
        expect(ticks.length).toBeLessThanOrEqual(steps + 1);
        expect(ticks.at(-1) ?? 0).toBeGreaterThanOrEqual(top * (1 - 1e-9));
      }
});

test("counts are whole, and short ones are exact, too", () => {
  expect(amountTicks(1, 4, "count")).toEqual([0, 1]);
  expect(amountTicks(0, 4, "count")).toEqual([0, 1]);
  expect(amountTicks(3, 2, "count")).toEqual([0, 2, 4]);
  expect(amountTicks(7_300, 4, "count").map(shortCount)).toEqual(["0", "2K", "4K", "6K", "8K"]);
  expect(amountTicks(1_400_000, 4, "count").map(shortCount)).toEqual(["0", "500K", "1M", "1.5M"]);
});

test("hours of a week are labelled by day, those of a day by round hours with the day at midnight", () => {
  const week = startsOf("2026-11-15T17:00:00Z", 7 * 24 + 1, HOUR_MS);
  expect(timeTicks(week, "hour", 10).map(({ label }) => label)).toEqual([
    "16 Nov",
    "17 Nov",
    "18 Nov",
    "19 Nov",
    "20 Nov",
    "21 Nov",
    "22 Nov",
  ]);
  expect(
    timeTicks(week, "hour", 16)
      .map(({ label }) => label)
      .slice(-4),
  ).toEqual(["21 Nov", "12:00", "22 Nov", "12:00"]);
  const day = startsOf("2026-11-21T17:00:00Z", 25, HOUR_MS);
  const named = timeTicks(day, "hour", 8);
  expect(named.map(({ label }) => label)).toEqual([
    "18:00",
    "21:00",
    "22 Nov",
    "03:00",
    "06:00",
    "09:00",
    "12:00",
    "15:00",
  ]);
  expect(named.map(({ at }) => at)).toEqual([1, 4, 7, 10, 13, 16, 19, 22]);
  expect(
    timeTicks(startsOf("2026-11-22T09:00:00Z", 4, HOUR_MS), "hour", 4).map(({ label }) => label),
  ).toEqual(["22 Nov 09:00", "10:00", "11:00", "12:00"]);
});

test("days are labelled back from the last one, evenly spaced, however little room there is", () => {
  const month = startsOf("2026-10-24T00:00:00Z", 31, 24 * HOUR_MS);
  expect(timeTicks(month, "day", 6).map(({ label }) => label)).toEqual([
    "26 Oct",
    "2 Nov",
    "9 Nov",
    "16 Nov",
    "23 Nov",
  ]);
  for (let room = 1; room <= 40; room++) {
    const places = timeTicks(month, "day", room).map(({ at }) => at);
    expect(places.length).toBeLessThanOrEqual(room);
    expect(places.at(-1)).toBe(30);
    expect(new Set(places.slice(1).map((at, one) => at - (places[one] ?? 0))).size).toBeLessThanOrEqual(1);
  }
  expect(timeTicks([], "day", 5)).toEqual([]);
});
