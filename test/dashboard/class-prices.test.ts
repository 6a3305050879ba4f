// What the Models page shows of prices other than input, cached input and output.
import { expect, test } from "bun:test";
import { classPricesOf } from "../../dashboard/pages/models/class-prices.ts";

const PLAIN = {
  input_per_million: "5",
  cached_input_per_million: "0.5",
  output_per_million: "30",
  request_minimum: "0",
};

test("a price without classes has no further lines", () => {
  expect(classPricesOf(PLAIN)).toEqual([]);
});

test("classes, calls, tiers of long prompts and service tiers have a line each", () => {
  const price = {
    ...PLAIN,
    cache_write_per_million: "6.25",
    audio_output_per_million: "60",
    per_call: "10",
    calls_max: 5,
    tiers: [
      {
        above_prompt_tokens: 272_000,
        input_per_million: "10",
        cached_input_per_million: "1",
        cache_write_per_million: "12.5",
        output_per_million: "45",
        audio_output_per_million: "90",
      },
    ],
    service_tiers: { flex: "0.5", priority: "2" },
  };
  expect(classPricesOf(price)).toEqual([
    "$6.25 to write to the cache · $60.00 audio out · $10.00 per 1,000 paid calls of the provider, at most 5 a request",
    "prompts above 272,000 tokens: $10.00 in · $1.00 cached · $45.00 out, per 1 M tokens · $12.50 to write to the cache · $90.00 audio out",
    "service tier flex: × 0.5 · service tier priority: × 2",
  ]);
});
