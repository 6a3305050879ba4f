import { expect, test } from "bun:test";
import fc from "fast-check";
import { nanoUsd, parseUsd } from "../domain/money.ts";
import type { Price } from "../domain/price.ts";
import { chargeOf } from "./charge.ts";
import { holdOf } from "./quote.ts";
import { fineFromNano, nanoFromFine } from "./rates.ts";

const usd = (text: string) => parseUsd(text) ?? nanoUsd(-1n);
/** The release of money.md §6. */
const EXAMPLE: Price = {
  input: usd("0.50"),
  cachedInput: usd("0.50"),
  output: usd("1.50"),
  requestMinimum: usd("0.0001"),
};
const evidence = "provider_usage";
const hold = nanoUsd(522_000n);
const usageOf = (promptTokens: number, completionTokens: number, cachedTokens: number | null = null) => ({
  promptTokens,
  completionTokens,
  cachedTokens,
});

test("the worked example of the money rules comes out to the nano", () => {
  expect(chargeOf({ usage: usageOf(96, 57), price: EXAMPLE, hold, evidence })).toEqual({
    charge: nanoUsd(133_500n),
    variance: nanoUsd(0n),
    minimumApplied: false,
  });
});

test("usage above the hold is charged at the hold; the platform keeps the rest", () => {
  expect(chargeOf({ usage: usageOf(444, 260), price: EXAMPLE, hold, evidence })).toEqual({
    charge: nanoUsd(522_000n),
    variance: nanoUsd(90_000n),
    minimumApplied: false,
  });
});

test("a call worth less than the request minimum costs the minimum", () => {
  const delivered = { usage: usageOf(96, 12), price: EXAMPLE, hold, evidence: "delivered_tokens" } as const;
  expect(chargeOf(delivered)).toEqual({
    charge: nanoUsd(100_000n),
    variance: nanoUsd(0n),
    minimumApplied: true,
  });
});

test("a call worth exactly the request minimum is charged for its tokens", () => {
  const price = { ...EXAMPLE, requestMinimum: nanoUsd(133_500n) };
  expect(chargeOf({ usage: usageOf(96, 57), price, hold, evidence })).toEqual({
    charge: nanoUsd(133_500n),
    variance: nanoUsd(0n),
    minimumApplied: false,
  });
});

test("what was told beyond what may be charged is the platform's; what was told below it gives nothing back", () => {
  const of = { usage: usageOf(96, 57), price: EXAMPLE, hold, evidence } as const;
  expect(chargeOf({ ...of, told: usageOf(96, 157) })).toMatchObject({
    charge: nanoUsd(133_500n),
    variance: nanoUsd(150_000n),
  });
  expect(chargeOf({ ...of, told: usageOf(96, 7) })).toMatchObject({
    charge: nanoUsd(133_500n),
    variance: nanoUsd(0n),
  });
});

test("no evidence, no charge: not even the minimum", () => {
  expect(chargeOf({ usage: usageOf(96, 57), price: EXAMPLE, hold, evidence: "none" })).toEqual({
    charge: nanoUsd(0n),
    variance: nanoUsd(0n),
    minimumApplied: false,
  });
});

test("the sum is rounded up once, not each component", () => {
  const price = { ...EXAMPLE, cachedInput: usd("0.0125"), requestMinimum: nanoUsd(0n) };
  expect(chargeOf({ usage: usageOf(3, 0, 3), price, hold, evidence }).charge).toBe(nanoUsd(38n));
  // Half a nano each: rounding by component would give 2 of them.
  const halves = { ...price, input: usd("0.0005"), output: usd("0.0005") };
  expect(chargeOf({ usage: usageOf(1, 1), price: halves, hold, evidence }).charge).toBe(nanoUsd(1n));
});

test("the least part of a nano-dollar makes a whole one, and a whole one stays what it is", () => {
  expect([0n, 1n, fineFromNano(1n), fineFromNano(1n) + 1n].map(nanoFromFine)).toEqual(
    [0n, 1n, 1n, 2n].map(nanoUsd),
  );
  const price = { ...EXAMPLE, input: nanoUsd(1n), requestMinimum: nanoUsd(0n), serviceTiers: { flex: 1n } };
  const usage = { ...usageOf(1, 0), serviceTier: "flex" };
  expect(chargeOf({ usage, price, hold, evidence }).charge).toBe(nanoUsd(1n));
});

test("calls cost nothing where the release has no price for them", () => {
  const usage = { ...usageOf(96, 57), calls: 3 };
  expect(chargeOf({ usage, price: EXAMPLE, hold, evidence }).charge).toBe(nanoUsd(133_500n));
});

test("cached tokens cost the cached rate, and never more of them than there were prompt tokens", () => {
  const price = { ...EXAMPLE, cachedInput: usd("0.05"), requestMinimum: nanoUsd(0n) };
  expect(chargeOf({ usage: usageOf(100, 0, 40), price, hold, evidence }).charge).toBe(nanoUsd(32_000n));
  expect(chargeOf({ usage: usageOf(100, 0, 900), price, hold, evidence }).charge).toBe(nanoUsd(5_000n));
});

test("a count that is not a whole number of tokens is a bug, never a price", () => {
  for (const wrong of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])
    expect(() => chargeOf({ usage: usageOf(wrong, 0), price: EXAMPLE, hold, evidence })).toThrow();
});

const tokens = fc.integer({ min: 0, max: 2_000_000 });
const rate = fc.bigInt({ min: 0n, max: 1_000_000_000_000n }).map(nanoUsd);
const usages = fc.tuple(tokens, tokens, tokens).map((counts) => usageOf(...counts));
const prices = fc.record({ input: rate, cachedInput: rate, output: rate, requestMinimum: rate });

test("a charge never exceeds the hold, and charge plus variance is the price", () => {
  fc.assert(
    fc.property(prices, usages, rate, (price, usage, cap) => {
      const { charge, variance } = chargeOf({ usage, price, hold: cap, evidence });
      const open = chargeOf({ usage, price, hold: nanoUsd(1n << 62n), evidence });
      expect(charge <= cap && charge >= 0n && variance >= 0n).toBe(true);
      expect(charge + variance).toBe(open.charge);
    }),
  );
});

test("usage within its bounds is always covered by the hold: no variance", () => {
  fc.assert(
    fc.property(
      prices,
      tokens,
      tokens,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (price, prompt, completion, part) => {
        const bound = holdOf(price, prompt, completion);
        const usage = usageOf(Math.floor(prompt * part), completion, Math.floor((prompt * part) / 2));
        expect(chargeOf({ usage, price, hold: bound, evidence }).variance).toBe(nanoUsd(0n));
      },
    ),
  );
});

test("more tokens never cost less", () => {
  fc.assert(
    fc.property(
      prices,
      tokens,
      tokens,
      fc.integer({ min: 0, max: 1000 }),
      (price, prompt, completion, more) => {
        const cap = nanoUsd(1n << 62n);
        const less = chargeOf({ usage: usageOf(prompt, completion), price, hold: cap, evidence });
        const dearer = chargeOf({
          usage: usageOf(prompt + more, completion + more),
          price,
          hold: cap,
          evidence,
        });
        expect(dearer.charge >= less.charge).toBe(true);
      },
    ),
  );
});
