// The lines of a charge, one by one: the rate of each class, and what turns their sum into the charge (providers.md §4).
import { expect, test } from "bun:test";
import { nanoUsd } from "../domain/money.ts";
import { exactPrice, type PublishedRates } from "../domain/price.ts";
import { TOKEN_CLASSES } from "../domain/token-classes.ts";
import { areCounts, type CostLine, costLines, partsOf, type TokenCounts } from "./cost-lines.ts";
import { holdOf } from "./quote.ts";

const PUBLISHED = {
  input_per_million: "5",
  cached_input_per_million: "0.5",
  cache_write_per_million: "6.25",
  output_per_million: "30",
  audio_output_per_million: "60",
  request_minimum: "0.001",
  per_call: "10",
  calls_max: 3,
  tiers: [
    {
      above_prompt_tokens: 1000,
      input_per_million: "10",
      cached_input_per_million: "1",
      cache_write_per_million: "12.5",
      output_per_million: "45",
      audio_output_per_million: "90",
    },
  ],
  service_tiers: { flex: "0.5", priority: "2" },
};

const lineOf = (usage: Partial<TokenCounts>, charge: bigint): CostLine[] =>
  costLines(
    { promptTokens: 0, completionTokens: 0, cachedTokens: null, ...usage },
    exactPrice(PUBLISHED),
    nanoUsd(charge),
  );

test("classes cost their own rates; what has none costs what stands in its place; calls cost by the thousand", () => {
  const usage = { promptTokens: 1000, cachedTokens: 400, cacheWriteTokens: 300, cacheWrite1hTokens: 100 };
  expect(lineOf({ ...usage, imageInputTokens: 50, completionTokens: 20, calls: 2 }, 24_175_000n)).toEqual([
    { class: "input", tokens: 250, usd_per_million: "5", amount_usd: "0.00125" },
    { class: "cached_input", tokens: 400, usd_per_million: "0.5", amount_usd: "0.0002" },
    { class: "cache_write", tokens: 200, usd_per_million: "6.25", amount_usd: "0.00125" },
    { class: "cache_write_1h", tokens: 100, usd_per_million: "6.25", amount_usd: "0.000625" },
    { class: "image_input", tokens: 50, usd_per_million: "5", amount_usd: "0.00025" },
    { class: "output", tokens: 20, usd_per_million: "30", amount_usd: "0.0006" },
    { class: "calls", calls: 2, usd_per_thousand: "10", amount_usd: "0.02" },
  ]);
});

test("the tier that a prompt reaches prices the whole request, the tier of service that the reply names every token of it", () => {
  const usage = { promptTokens: 1001, completionTokens: 10 };
  expect(lineOf(usage, 10_460_000n)).toEqual([
    { class: "input", tokens: 1001, usd_per_million: "10", amount_usd: "0.01001" },
    { class: "output", tokens: 10, usd_per_million: "45", amount_usd: "0.00045" },
  ]);
  expect(lineOf({ ...usage, calls: 1, serviceTier: "flex" }, 15_230_000n)).toMatchObject([
    { class: "input", usd_per_million: "5" },
    { class: "output", usd_per_million: "22.5" },
    { class: "calls", usd_per_thousand: "10" },
  ]);
  expect(lineOf({ ...usage, serviceTier: "turbo" }, 10_460_000n)).toMatchObject([
    { usd_per_million: "10" },
    { usd_per_million: "45" },
  ]);
});

test("each reply names its own tier of service: what one request of a release cost decides nothing about the next", () => {
  const price = exactPrice(PUBLISHED);
  const rateOf = (named: Partial<TokenCounts>): string | undefined =>
    costLines({ promptTokens: 1, completionTokens: 0, cachedTokens: null, ...named }, price, nanoUsd(0n))[0]
      ?.usd_per_million;
  const [flex, priority] = [{ serviceTier: "flex" }, { serviceTier: "priority" }];
  expect([flex, {}, priority, flex, {}].map(rateOf)).toEqual(["2.5", "5", "10", "2.5", "5"]);
});

test("what is written to a cache for no stated time is none of what is written for an hour", () => {
  const parts = partsOf({ promptTokens: 100, completionTokens: 0, cachedTokens: null, cacheWriteTokens: 30 });
  expect(parts).toMatchObject({ input: 70, cache_write: 30, cache_write_1h: 0 });
});

test("counts are whole numbers from 0 on, or not known; a tier of service is no count", () => {
  const usage = { promptTokens: 1, completionTokens: 0, cachedTokens: null, serviceTier: "flex" };
  expect(areCounts(usage)).toBe(true);
  for (const wrong of [-1, 1.5, Number.NaN, 2 ** 60, "1", true] as number[]) {
    expect(areCounts({ ...usage, promptTokens: wrong })).toBe(false);
    expect(areCounts({ ...usage, reasoningTokens: wrong })).toBe(false);
  }
});

test("what the minimum added, what was rounded up and what the hold cut off are lines of their own", () => {
  expect(lineOf({ promptTokens: 1, cachedTokens: 1 }, 900_000n)).toEqual([
    { class: "cached_input", tokens: 1, usd_per_million: "0.5", amount_usd: "0.0000005" },
    { class: "request_minimum", amount_usd: "0.0009995" },
    { class: "above_hold", amount_usd: "-0.0001" },
  ]);
  const fine = { ...PUBLISHED, input_per_million: "0.0005", request_minimum: "0", tiers: undefined };
  const one = { promptTokens: 1, completionTokens: 0, cachedTokens: null };
  expect(costLines(one, exactPrice(fine), nanoUsd(1n))).toEqual([
    { class: "input", tokens: 1, usd_per_million: "0.0005", amount_usd: "0.0000000005" },
    { class: "rounding", amount_usd: "0.0000000005" },
  ]);
});

test("a hold covers the dearest class of every tier within reach, the dearest tier of service, and the calls", () => {
  const price = exactPrice(PUBLISHED);
  const calls = 3n * 10_000_000n;
  expect(holdOf(price, 1000, 10)).toBe(nanoUsd(2n * (1000n * 6_250n + 10n * 60_000n) + calls));
  expect(holdOf(price, 1001, 10)).toBe(nanoUsd(2n * (1001n * 12_500n + 10n * 90_000n) + calls));
});

/** Gives each class a different rate: `from`, and one more for each. */
const distinct = (from: number): PublishedRates => ({
  input_per_million: `${from}`,
  cached_input_per_million: `${from + 1}`,
  cache_write_per_million: `${from + 2}`,
  cache_write_1h_per_million: `${from + 3}`,
  audio_input_per_million: `${from + 4}`,
  image_input_per_million: `${from + 5}`,
  output_per_million: `${from + 6}`,
  audio_output_per_million: `${from + 7}`,
});
const everyClass = (promptTokens: number): TokenCounts => ({
  promptTokens,
  cachedTokens: 10,
  cacheWriteTokens: 20,
  cacheWrite1hTokens: 10,
  audioInputTokens: 10,
  imageInputTokens: 10,
  completionTokens: 20,
  audioOutputTokens: 10,
});

test("each class costs the rate that is published under its name, in the highest tier that the prompt reaches", () => {
  const price = exactPrice({
    ...distinct(1),
    request_minimum: "0",
    tiers: [
      { above_prompt_tokens: 100, ...distinct(11) },
      { above_prompt_tokens: 200, ...distinct(21) },
    ],
  });
  for (const [promptTokens, from] of [
    [100, 1],
    [101, 11],
    [200, 11],
    [201, 21],
  ] as const)
    expect(
      costLines(everyClass(promptTokens), price, nanoUsd(0n))
        .filter(({ tokens }) => tokens !== undefined)
        .map((line) => [line.class, line.usd_per_million]),
    ).toEqual(TOKEN_CLASSES.map((name, place) => [name, `${from + place}`]));
});
