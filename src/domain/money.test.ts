import { expect, test } from "bun:test";
import {
  addUsd,
  formatUsd,
  MAX_NANO_USD,
  maxUsd,
  minUsd,
  nanoUsd,
  parseUsd,
  subUsd,
  sumUsd,
  usdJsonNumber,
} from "./money.ts";

test("decimal strings become exact nano-USD and come back with nine places", () => {
  for (const [text, amount] of [
    ["5", 5_000_000_000n],
    ["0.000000001", 1n],
    ["5.00", 5_000_000_000n],
    ["0.1", 100_000_000n],
  ] as const) {
    expect(parseUsd(text)).toBe(nanoUsd(amount));
  }
  expect(formatUsd(nanoUsd(5_000_000_000n))).toBe("5.000000000");
  expect(formatUsd(nanoUsd(999_999_999n))).toBe("0.999999999");
  expect(formatUsd(nanoUsd(-1n))).toBe("-0.000000001");
});

test("anything but a plain decimal that fits a column is refused", () => {
  for (const text of [
    "",
    "-1",
    "+1",
    "1e3",
    "NaN",
    "1.",
    ".5",
    "01",
    " 1",
    "1.0000000001",
    "9223372037",
    "1,5",
  ])
    expect(parseUsd(text)).toBeNull();
});

test("the wire's one number is the shortest exact literal of its decimal string", () => {
  for (const [amount, text] of [
    [133_500n, "0.0001335"],
    [0n, "0"],
    [1n, "0.000000001"],
    [2_000_000_000n, "2"],
    [10_000_000_000n, "10"],
  ] as const) {
    expect(usdJsonNumber(nanoUsd(amount))).toBe(text);
    expect(Number(text) * 1e9).toBeCloseTo(Number(amount), 3);
  }
});

test("the largest amount is that of a signed 64-bit column, and itself an amount", () => {
  expect(MAX_NANO_USD).toBe(nanoUsd(2n ** 63n - 1n));
  expect(parseUsd("9223372036.854775807")).toBe(MAX_NANO_USD);
  expect(parseUsd("9223372036.854775808")).toBeNull();
});

test("amounts are added, subtracted and compared exactly; the sum of none is zero", () => {
  const [two, five] = [nanoUsd(2n), nanoUsd(5n)];
  expect([addUsd(two, five), subUsd(two, five), minUsd(five, two), maxUsd(two, five)]).toEqual(
    [7n, -3n, 2n, 5n].map(nanoUsd),
  );
  expect(sumUsd([two, five, two])).toBe(nanoUsd(9n));
  expect(sumUsd([])).toBe(nanoUsd(0n));
});
