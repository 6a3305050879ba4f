import { expect, test } from "bun:test";
import fc from "fast-check";
import { nanoUsd, ZERO_USD } from "../domain/money.ts";
import { NO_CLASSES } from "../domain/token-classes.ts";
import { believedUsage, isPlausible, meteredUsage, type Quoted } from "./believed-usage.ts";
import { chargeOf } from "./charge.ts";
import { holdOf } from "./quote.ts";

const QUOTED: Quoted = { promptTokensMax: 100, outputTokensMax: 50, windowTokens: 1000, callsMax: 0 };
const usage = (promptTokens: number, completionTokens: number, cached = 0, reasoning = 0) => ({
  promptTokens,
  completionTokens,
  cachedTokens: cached,
  reasoningTokens: reasoning,
});

test("usage within its bounds is taken as it is", () => {
  const told = usage(100, 50, 100, 50);
  expect(believedUsage(told, QUOTED)).toEqual({ usage: told, told: null, clamped: false });
});

test("what the provider did not tell stays unknown, whether a bound was exceeded or not", () => {
  const untold = { ...usage(10, 5), cachedTokens: null, reasoningTokens: null };
  expect(believedUsage(untold, QUOTED).usage).toEqual(untold);
  expect(believedUsage({ ...untold, promptTokens: 101 }, QUOTED).usage).toEqual({
    ...untold,
    promptTokens: 100,
  });
});

test("what is above a bound is clamped to it, its parts with it, and kept for the variance", () => {
  expect(believedUsage(usage(101, 400, 101, 300), QUOTED)).toEqual({
    usage: usage(100, 50, 100, 50),
    told: { promptTokens: 101, completionTokens: 400, cachedTokens: 101 },
    clamped: true,
  });
});

test("classes are cut to the bounds with their sums, and calls to those that the hold covers", () => {
  const classes = { cacheWriteTokens: 80, cacheWrite1hTokens: 75, audioInputTokens: 40, imageInputTokens: 9 };
  const told = { ...usage(150, 60, 30), ...classes, audioOutputTokens: 55, calls: 7, serviceTier: "flex" };
  const believed = believedUsage(told, { ...QUOTED, callsMax: 2 });
  expect(believed.usage).toEqual({
    ...usage(100, 50, 30),
    cacheWriteTokens: 70,
    cacheWrite1hTokens: 70,
    audioInputTokens: 0,
    imageInputTokens: 0,
    audioOutputTokens: 50,
    calls: 2,
    serviceTier: "flex",
  });
  const { reasoningTokens: _, ...priced } = told;
  expect(believed).toMatchObject({ told: priced, clamped: true });
});

test("calls beyond the bound are told alone, too; a number of them that cannot be is none", () => {
  const within = usage(10, 5);
  expect(believedUsage({ ...within, calls: 3 }, { ...QUOTED, callsMax: 2 })).toMatchObject({
    usage: { calls: 2 },
    told: { calls: 3 },
    clamped: true,
  });
  expect(believedUsage({ ...within, calls: Number.MAX_SAFE_INTEGER }, QUOTED)).toMatchObject({
    usage: { calls: 0 },
    told: null,
    clamped: true,
  });
  expect(believedUsage({ ...within, calls: 2 }, { ...QUOTED, callsMax: 2 }).clamped).toBe(false);
});

test("what is kept of a provider's word: each class of which there is something, and a tier that the release publishes", () => {
  const told = {
    ...NO_CLASSES,
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 0,
    cacheWriteTokens: 4,
    imageInputTokens: 1,
    audioInputTokens: 0,
    serviceTier: "flex",
  };
  const price = { input: ZERO_USD, cachedInput: ZERO_USD, output: ZERO_USD, requestMinimum: ZERO_USD };
  const kept = {
    promptTokens: 10,
    completionTokens: 5,
    cachedTokens: 0,
    reasoningTokens: null,
    cacheWriteTokens: 4,
    imageInputTokens: 1,
  };
  expect(meteredUsage(told, price)).toEqual(kept);
  expect(meteredUsage(told, { ...price, serviceTiers: { flex: 1n } })).toEqual({
    ...kept,
    serviceTier: "flex",
  });
  expect(
    meteredUsage({ ...told, serviceTier: "constructor" }, { ...price, serviceTiers: { flex: 1n } }),
  ).toEqual(kept);
});

test("a figure that the window cannot hold says nothing about what was used", () => {
  expect(believedUsage(usage(QUOTED.windowTokens, 5), QUOTED).told).toMatchObject({ promptTokens: 1000 });
  expect(believedUsage(usage(QUOTED.windowTokens + 1, 5), QUOTED).told).toBeNull();
  expect(believedUsage(usage(Number.MAX_SAFE_INTEGER, 5), QUOTED)).toMatchObject({
    usage: { promptTokens: 100, completionTokens: 5 },
    told: null,
    clamped: true,
  });
  expect(believedUsage(usage(Number.MAX_SAFE_INTEGER, 60), QUOTED).told).toEqual({
    promptTokens: 100,
    completionTokens: 60,
    cachedTokens: 0,
  });
});

test("whatever is told, what is charged lies within the bounds, and the variance within the window", () => {
  const count = fc.oneof(fc.nat({ max: 2000 }), fc.maxSafeNat());
  const rate = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(nanoUsd);
  fc.assert(
    fc.property(fc.tuple(count, count, count), rate, rate, ([prompt, completion, cached], input, output) => {
      const price = { input, cachedInput: input, output, requestMinimum: nanoUsd(0n) };
      const { usage: believed, told } = believedUsage(usage(prompt, completion, cached), QUOTED);
      expect(believed.promptTokens).toBeLessThanOrEqual(QUOTED.promptTokensMax);
      expect(believed.completionTokens).toBeLessThanOrEqual(QUOTED.outputTokensMax);
      const hold = holdOf(price, QUOTED.promptTokensMax, QUOTED.outputTokensMax);
      const { charge, variance } = chargeOf({
        usage: believed,
        told,
        price,
        hold,
        evidence: "provider_usage",
      });
      expect(charge <= hold).toBe(true);
      expect(charge + variance <= holdOf(price, QUOTED.windowTokens, QUOTED.windowTokens)).toBe(true);
    }),
  );
});

test.each<[number, number, "o200k_base" | "bytes", boolean]>([
  [0, 0, "o200k_base", true],
  [0, 1, "o200k_base", false],
  [1, 1000, "o200k_base", true],
  [1, 16 * 65, "o200k_base", true],
  [1, 16 * 65 + 1, "o200k_base", false],
  [2000, 10_000, "o200k_base", true],
  [0, 1000, "bytes", true],
  [0, 10_000, "bytes", false],
])("%d tokens for %d characters by %s: %p", (tokens, characters, tokenizer, plausible) => {
  expect(isPlausible(tokens, characters, { tokenizer })).toBe(plausible);
});
