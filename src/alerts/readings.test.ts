// The sentences of rules are exact to the last digit, on either side of the threshold.
import { expect, test } from "bun:test";
import { nanoUsd, type NanoUsd, ZERO_USD } from "../domain/money.ts";
import type { Rule } from "./alert.ts";
import { type Figures, readingsOf } from "./readings.ts";

const NOW_MS = Date.UTC(2026, 10, 27, 9);

async function textsOf(
  kind: Rule["kind"],
  { amount, is }: { amount: bigint; is: bigint },
): Promise<string[]> {
  const figures = {
    nowMs: () => NOW_MS,
    spentSince: async () => nanoUsd(is),
    balance: async () => ({ available: is as NanoUsd, held: ZERO_USD, debt: ZERO_USD }),
    keys: async () => [
      {
        id: "key_1",
        name: "lab",
        spans: [
          { period: "month", limit: nanoUsd(amount), spent: nanoUsd(is), resetsAtMs: Date.UTC(2026, 11, 1) },
        ],
      },
    ],
  } as unknown as Figures;
  const rule = { kind, amount: nanoUsd(amount), percent: 80, keyId: null } as unknown as Rule;
  return (await readingsOf(rule, figures)).map(({ text }) => text);
}

test.each([
  ["spend_per_day", 100_000n, 600_000n, "Today (2026-11-27 UTC) $0.0006 was spent, more than $0.0001."],
  [
    "spend_per_day",
    5_000_000_000n,
    5_001_000_000n,
    "Today (2026-11-27 UTC) $5.001 was spent, more than $5.00.",
  ],
  ["balance_below", 5_000_000_000n, 4_999_450_000n, "The balance is $4.99945, below $5.00."],
  ["balance_below", 5_000_000_000n, -1_234_005_000_000n, "The balance is −$1,234.005, below $5.00."],
  [
    "key_limit",
    5_000_000n,
    4_000_000n,
    "The key lab has spent $0.004 of its $0.005 in November 2026, at least 80 %.",
  ],
] as const)("%s of %s nano-dollars at %s", async (kind, amount, is, text) => {
  expect(await textsOf(kind, { amount, is })).toEqual([text]);
});

test.each([
  [2_999n, "crossed", "2.9 days"],
  [3_000n, "between", "3 days"],
  [3_299n, "between", "3.2 days"],
  [3_300n, "clear", "3.3 days"],
  [-1_000n, "crossed", "0 days"],
] as const)("a rule of three days with %s thousandths of a day left", async (is, standing, left) => {
  const figures = {
    nowMs: () => NOW_MS,
    spentSince: async () => nanoUsd(7_000n),
    balance: async () => ({ available: is as NanoUsd, held: ZERO_USD, debt: ZERO_USD }),
  } as unknown as Figures;
  const rule = { kind: "days_left_below", days: 3 } as unknown as Rule;
  expect(await readingsOf(rule, figures)).toMatchObject([
    { standing, text: `At the pace of the past 7 days the balance lasts ${left}, less than 3 days.` },
  ]);
});
