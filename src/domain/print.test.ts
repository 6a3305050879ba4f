import { expect, test } from "bun:test";
import { DAMAGED, printDay, printTime, printTimeOrNull } from "./print.ts";

test.each([
  [0, "1970-01-01T00:00:00.000Z"],
  [1_764_000_000_000n, "2025-11-24T16:00:00.000Z"],
  [Date.parse("9999-12-31T23:59:59.999Z"), "9999-12-31T23:59:59.999Z"],
  [Date.parse("0000-01-01T00:00:00.000Z"), "0000-01-01T00:00:00.000Z"],
])("%p is a time", (ms, printed) => {
  expect([printTime(ms), printDay(ms)]).toEqual([printed, printed.slice(0, 10)]);
});

test.each([
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2n ** 63n - 1n,
  -(2n ** 63n),
  8.64e15, // valid for Date, not for RFC 3339
  Date.parse("9999-12-31T23:59:59.999Z") + 1,
  -62_167_219_200_001,
])("%p is none, and says so", (ms) => {
  expect([printTime(ms), printTimeOrNull(ms), printDay(ms)]).toEqual([DAMAGED, DAMAGED, DAMAGED]);
});
