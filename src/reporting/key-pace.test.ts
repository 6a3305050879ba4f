// When a key is predicted to reach its limit, and when there is no prediction.
import { expect, test } from "bun:test";
import { nanoUsd } from "../domain/money.ts";
import { reachesLimitOn } from "./key-pace.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const OLD = Date.parse("2026-01-01T00:00:00Z");
const usd = (amount: number) => nanoUsd(BigInt(amount) * 1_000_000_000n);

test.each([
  ["an even pace goes on", { limit: 100, spent: 70, week: 70, days: 7 }, OLD, "2026-11-19"],
  ["days without spend count, too", { limit: 100, spent: 90, week: 35, days: 3 }, OLD, "2026-11-18"],
  [
    "a key of four days has a pace of four",
    { limit: 100, spent: 40, week: 40, days: 4 },
    NOW - 4 * 86_400_000,
    "2026-11-22",
  ],
  ["beyond the month it counts from zero", { limit: 100, spent: 0, week: 7, days: 7 }, OLD, null],
  ["two days say nothing", { limit: 100, spent: 90, week: 90, days: 2 }, OLD, null],
  ["it is reached already", { limit: 100, spent: 100, week: 70, days: 7 }, OLD, null],
  [
    "the last nano-dollar of a limit no number holds",
    { limit: 9_000_000_000, spent: 1, week: 3, days: 3 },
    OLD,
    null,
  ],
] as const)("%s", (_, { limit, spent, week, days }, createdAtMs, on) => {
  const key = { limit: usd(limit), monthSpend: usd(spent), createdAtMs };
  expect(reachesLimitOn(key, { spent: usd(week), daysWithSpend: days }, NOW)).toBe(on);
});

test("a key that has not spent has no pace", () => {
  expect(reachesLimitOn({ limit: usd(1), monthSpend: usd(0), createdAtMs: OLD }, undefined, NOW)).toBeNull();
});
