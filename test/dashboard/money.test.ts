// Amounts as the dashboard writes them.
import { expect, test } from "bun:test";
import { formatHeight } from "../../dashboard/format/money.ts";

test("a height below a millionth of a dollar is printed as an amount, not in exponent notation", () => {
  expect([5e-7, 0.000_001_2, 0, 12.5].map(formatHeight)).toEqual([
    "$0.0000005",
    "$0.0000012",
    "$0.00",
    "$12.50",
  ]);
});
