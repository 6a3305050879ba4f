import { expect, test } from "bun:test";
import { formatMonth, lastMonths, monthWindow } from "../../dashboard/format/month.ts";

test("months go back over the turn of the year, in UTC", () => {
  expect(lastMonths(3, new Date("2026-02-01T00:30:00Z"))).toEqual(["2026-02", "2026-01", "2025-12"]);
});

test.each([
  ["2026-11", { from: "2026-11-01T00:00:00Z", to: "2026-12-01T00:00:00Z" }],
  ["2026-12", { from: "2026-12-01T00:00:00Z", to: "2027-01-01T00:00:00Z" }],
  ["2026-13", {}],
  ["", {}],
])("the window of %p", (month, window) => {
  expect(monthWindow(month)).toEqual(window);
});

test("a month is printed with its zone", () => {
  expect([formatMonth("2026-11"), formatMonth("soon")]).toEqual(["November 2026 UTC", "soon"]);
});
