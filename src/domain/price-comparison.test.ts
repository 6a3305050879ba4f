// What a customer pays before and after, also if only one of two prices publishes a class or a tier.
import { expect, test } from "bun:test";
import { comparePrices, differs, ratioOf } from "./price-comparison.ts";

const PLAIN = { input_per_million: "2.50", output_per_million: "10", request_minimum: "0" };
const lines = (...sides: Parameters<typeof comparePrices>): unknown[] =>
  comparePrices(...sides)
    .filter(differs)
    .map(({ price, above_prompt_tokens, before, after, percent }) => [
      price,
      above_prompt_tokens,
      before,
      after,
      percent,
    ]);

test("the same price in another notation is no difference", () => {
  expect(lines(PLAIN, { ...PLAIN, input_per_million: "2.5", request_minimum: "0.000" })).toEqual([]);
});

test("a new class is compared with the price that applied in its place", () => {
  const classes = { ...PLAIN, cached_input_per_million: "0.25", cache_write_1h_per_million: "5" };
  expect(lines(PLAIN, classes)).toEqual([
    ["cached_input_per_million", null, "2.5", "0.25", "-90.0"],
    ["cache_write_1h_per_million", null, "2.5", "5", "+100.0"],
  ]);
  expect(lines(classes, PLAIN)).toEqual([
    ["cached_input_per_million", null, "0.25", "2.5", "+900.0"],
    ["cache_write_1h_per_million", null, "5", "2.5", "-50.0"],
  ]);
});

test("a tier is compared with what long prompts cost without it", () => {
  const tier = { above_prompt_tokens: 200_000, input_per_million: "5", output_per_million: "15" };
  expect(lines(PLAIN, { ...PLAIN, tiers: [tier] })).toEqual([
    ["input_per_million", 200_000, "2.5", "5", "+100.0"],
    ["output_per_million", 200_000, "10", "15", "+50.0"],
  ]);
  const later = { ...tier, above_prompt_tokens: 400_000 };
  expect(lines({ ...PLAIN, tiers: [tier] }, { ...PLAIN, tiers: [later] })).toEqual([
    ["input_per_million", 200_000, "5", "2.5", "-50.0"],
    ["output_per_million", 200_000, "15", "10", "-33.3"],
  ]);
});

test("factors, calls and minimums; a new route has nothing before", () => {
  const more = {
    ...PLAIN,
    request_minimum: "0.0001",
    per_call: "10",
    calls_max: 5,
    service_tiers: { flex: "0.5" },
  };
  expect(lines(PLAIN, more)).toEqual([
    ["request_minimum", null, "0", "0.0001", null],
    ["per_call", null, null, "10", null],
    ["calls_max", null, null, "5", null],
    ["service_tiers.flex", null, "1", "0.5", "-50.0"],
  ]);
  expect(lines(null, PLAIN)[0]).toEqual(["input_per_million", null, null, "2.5", null]);
});

test("percentages and markups are whole numbers, whatever the amounts", () => {
  expect(lines(PLAIN, { ...PLAIN, input_per_million: "999999.999999999" })[0]).toEqual([
    "input_per_million",
    null,
    "2.5",
    "999999.999999999",
    "+39999900.0",
  ]);
  expect(lines(PLAIN, { ...PLAIN, input_per_million: "2.4987" })[0]).toContain("-0.1");
  expect([ratioOf("3", "2.5"), ratioOf("1", "3"), ratioOf("1", "0")]).toEqual(["1.2", "0.3333", null]);
});
