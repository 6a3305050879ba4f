// Token classes and their prices: properties that hold for every price and every usage (providers.md §4).
import { expect, test } from "bun:test";
import fc from "fast-check";
import { maxUsd, minUsd, type NanoUsd, nanoUsd } from "../domain/money.ts";
import type { Price, Rates } from "../domain/price.ts";
import { admissiblePromptTokens } from "./admissible-prompt.ts";
import { chargeOf } from "./charge.ts";
import { type CostLine, costLines, partsOf, type TokenCounts } from "./cost-lines.ts";
import { holdOf } from "./quote.ts";
import { FINE_PLACES, fineFromNano } from "./rates.ts";

const evidence = "provider_usage";
const FAR = nanoUsd(1n << 62n);
const tokens = fc.integer({ min: 0, max: 2_000_000 });
const rate = fc.bigInt({ min: 0n, max: 1_000_000_000_000n }).map(nanoUsd);
const usages: fc.Arbitrary<TokenCounts> = fc
  .record(
    {
      promptTokens: tokens,
      completionTokens: tokens,
      cachedTokens: fc.option(tokens),
      cacheWriteTokens: tokens,
      cacheWrite1hTokens: tokens,
      audioInputTokens: tokens,
      imageInputTokens: tokens,
      audioOutputTokens: tokens,
      calls: fc.integer({ min: 0, max: 10 }),
      serviceTier: fc.constantFrom("flex", "priority", "default", "constructor", "__proto__"),
    },
    { requiredKeys: ["promptTokens", "completionTokens", "cachedTokens"] },
  )
  .map((usage): TokenCounts => usage);

const rates = fc
  .record(
    {
      input: rate,
      cachedInput: rate,
      cacheWrite: rate,
      cacheWrite1h: rate,
      audioInput: rate,
      imageInput: rate,
      output: rate,
      audioOutput: rate,
    },
    { requiredKeys: ["input", "cachedInput", "output"] },
  )
  .map((some): Rates => some);
/** Each tier is dearer than the one below it, in every class that has its own price. */
const prices: fc.Arbitrary<Price> = fc
  .record({
    base: rates,
    requestMinimum: rate,
    calls: fc.option(fc.record({ perThousandCalls: rate, callsMax: fc.integer({ min: 1, max: 10 }) })),
    steps: fc.uniqueArray(fc.integer({ min: 1, max: 2_000_000 }), { maxLength: 3 }),
    factors: fc.option(fc.record({ flex: factor(1n, 999_999_999n), priority: factor(1n, 3_000_000_000n) })),
  })
  .map(({ base, requestMinimum, calls, steps, factors }) => ({
    ...base,
    requestMinimum,
    ...calls,
    ...(steps.length > 0 && {
      tiers: steps
        .toSorted((a, b) => a - b)
        .map((abovePromptTokens, place) => ({ abovePromptTokens, ...times(base, BigInt(place + 2)) })),
    }),
    ...(factors !== null && { serviceTiers: factors }),
  }));

function factor(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  return fc.bigInt({ min, max });
}

const times = (of: Rates, by: bigint): Rates =>
  Object.fromEntries(
    Object.entries(of).map(([name, amount]) => [name, (amount as bigint) * by]),
  ) as unknown as Rates;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

test("classes are disjoint parts that make up the prompt and the completion", () => {
  fc.assert(
    fc.property(usages, (usage) => {
      const { output, audio_output, ...prompt } = partsOf(usage);
      expect(sum(Object.values(prompt))).toBe(usage.promptTokens);
      expect(output + audio_output).toBe(usage.completionTokens);
      for (const part of [...Object.values(prompt), output, audio_output])
        expect(part).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("a token of two classes is priced once, as the first of cached, written, audio and image", () => {
  const overlapping = {
    promptTokens: 100,
    completionTokens: 10,
    cachedTokens: 60,
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 99,
    audioInputTokens: 8,
    imageInputTokens: 70,
    audioOutputTokens: 11,
  };
  expect(partsOf(overlapping)).toEqual({
    input: 0,
    cached_input: 60,
    cache_write: 0,
    cache_write_1h: 30,
    audio_input: 8,
    image_input: 2,
    output: 0,
    audio_output: 10,
  });
});

/** The charge and the hold as computed before there were classes. */
function before(
  usage: Pick<TokenCounts, "promptTokens" | "completionTokens" | "cachedTokens">,
  price: Pick<Price, "input" | "cachedInput" | "output" | "requestMinimum">,
): { charge: NanoUsd; hold: NanoUsd } {
  const prompt = BigInt(usage.promptTokens);
  const reported = BigInt(usage.cachedTokens ?? 0);
  const cached = reported > prompt ? prompt : reported;
  const output = BigInt(usage.completionTokens) * price.output;
  const up = (amount: bigint): NanoUsd => nanoUsd((amount + 999_999n) / 1_000_000n);
  const worth = up((prompt - cached) * price.input + cached * price.cachedInput + output);
  const bound = up(prompt * maxUsd(price.input, price.cachedInput) + output);
  return { charge: maxUsd(worth, price.requestMinimum), hold: maxUsd(bound, price.requestMinimum) };
}

test("a price without classes charges and holds what it always did, to the nano-dollar, whatever classes are told", () => {
  const simple = fc.record({ input: rate, cachedInput: rate, output: rate, requestMinimum: rate });
  fc.assert(
    fc.property(simple, usages, rate, (price, usage, cap) => {
      const { cachedTokens, promptTokens, completionTokens } = usage;
      const old = before(usage, price);
      expect(holdOf(price, promptTokens, completionTokens)).toBe(old.hold);
      const few = { cachedTokens, promptTokens, completionTokens };
      expect(chargeOf({ usage: few, price, hold: cap, evidence }).charge).toBe(minUsd(old.charge, cap));
      // Written and audio tokens cost the input rate, because they have none of their own.
      const all = chargeOf({ usage, price, hold: cap, evidence }).charge;
      expect(all).toBe(minUsd(old.charge, cap));
    }),
  );
});

test("usage within its bounds costs no more than the hold, whatever tier is reached and whatever tier is named", () => {
  fc.assert(
    fc.property(prices, usages, tokens, tokens, (price, usage, more, longer) => {
      const calls = Math.min(usage.calls ?? 0, price.callsMax ?? 0);
      const hold = holdOf(price, usage.promptTokens + more, usage.completionTokens + longer);
      const { charge, variance } = chargeOf({ usage: { ...usage, calls }, price, hold, evidence });
      expect(charge <= hold).toBe(true);
      expect(variance).toBe(nanoUsd(0n));
    }),
    { numRuns: 500 },
  );
});

test("what is beyond the hold is never charged, and is the variance", () => {
  fc.assert(
    fc.property(prices, usages, rate, (price, usage, hold) => {
      const { charge, variance } = chargeOf({ usage, price, hold, evidence });
      expect(charge <= hold && charge >= 0n && variance >= 0n).toBe(true);
      expect(charge + variance).toBe(chargeOf({ usage, price, hold: FAR, evidence }).charge);
    }),
  );
});

test("more plain tokens, more output and more calls never cost less", () => {
  const few = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(prices, usages, fc.tuple(few, few, few), (price, usage, [prompt, completion, calls]) => {
      const more = {
        ...usage,
        ...partedAlike(usage),
        promptTokens: usage.promptTokens + prompt,
        completionTokens: usage.completionTokens + completion,
        calls: (usage.calls ?? 0) + calls,
      };
      const [less, dearer] = [usage, more].map(
        (of) => chargeOf({ usage: of, price, hold: FAR, evidence }).charge,
      );
      expect((dearer ?? 0n) >= (less ?? 1n)).toBe(true);
    }),
  );
});

/** Returns the usage with its classes as they are counted, so that a longer prompt makes no room for more of what overlapped. */
function partedAlike(usage: TokenCounts): Partial<TokenCounts> {
  const parts = partsOf(usage);
  return {
    cachedTokens: parts.cached_input,
    cacheWriteTokens: parts.cache_write + parts.cache_write_1h,
    cacheWrite1hTokens: parts.cache_write_1h,
    audioInputTokens: parts.audio_input,
    imageInputTokens: parts.image_input,
    audioOutputTokens: parts.audio_output,
  };
}

/** Returns the exact amount of a decimal text, in 10⁻²⁴. */
function exactly(text: string): bigint {
  const [, sign = "", whole = "0", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return BigInt(`${sign}${whole}${fraction.padEnd(FINE_PLACES, "0")}`);
}
const total = (lines: readonly CostLine[]): bigint =>
  lines.reduce((all, { amount_usd }) => all + exactly(amount_usd), 0n);

test("the lines of a charge add up to it exactly, also where the minimum or the hold decided, and each line by itself", () => {
  fc.assert(
    fc.property(prices, usages, rate, (price, usage, hold) => {
      const { charge } = chargeOf({ usage, price, hold, evidence });
      const lines = costLines(usage, price, charge);
      expect(total(lines)).toBe(fineFromNano(charge));
      for (const { tokens: count, usd_per_million, calls, usd_per_thousand, amount_usd } of lines) {
        if (count !== undefined)
          expect(exactly(usd_per_million ?? "") * BigInt(count)).toBe(exactly(amount_usd) * 1_000_000n);
        if (calls !== undefined)
          expect(exactly(usd_per_thousand ?? "") * BigInt(calls)).toBe(exactly(amount_usd) * 1_000n);
      }
    }),
  );
});

test("the longest prompt that a budget admits is held within it, and one token more is not", () => {
  const release = (price: Price) => ({ price, contextWindow: 8_000_000, maxOutputTokens: 1000 }) as never;
  const request = { maxTokens: 10, n: 1 };
  fc.assert(
    fc.property(prices, rate, (price, budget) => {
      const most = admissiblePromptTokens(request, [release(price)], budget);
      if (most > 0) expect(holdOf(price, most, 10) <= budget).toBe(true);
      if (most < 8_000_000 - 10) expect(holdOf(price, most + 1, 10) > budget).toBe(true);
    }),
    { numRuns: 500 },
  );
});
