// Amounts in sentences read like the dashboard's.
import { expect, test } from "bun:test";
import { formatMoney } from "../../dashboard/format/money.ts";
import { formatUsd, nanoUsd } from "./money.ts";
import { preciseUsd, shortUsd } from "./short-usd.ts";

test("an amount in a sentence reads as the same amount on a page", () => {
  expect(shortUsd(nanoUsd(1_067_000n))).toBe("$0.0011");
  for (const amount of [
    0n,
    1n,
    99n,
    1_067_000n,
    9_999_999n,
    99_600_000n,
    156_000_000n,
    999_999_999n,
    1_000_000_000n,
    12_345_678_901n,
    1_234_567_005_000_000n,
    -156_000_000n,
  ].map(nanoUsd))
    expect(shortUsd(amount)).toBe(formatMoney(formatUsd(amount)));
});

test("next to a threshold an amount is printed to its last digit, a difference with its sign", () => {
  expect(
    [600_000n, 0n, -1n, 1_234_567_890_000_000n, -2_500_000_000n].map((amount) => preciseUsd(nanoUsd(amount))),
  ).toEqual(["$0.0006", "$0.00", "−$0.000000001", "$1,234,567.89", "−$2.50"]);
});
