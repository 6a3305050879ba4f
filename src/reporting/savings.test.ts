// Tokens at another model's price: the sum of what each request would cost there, and at least its minimum.
import { expect, test } from "bun:test";
import { formatUsd } from "../domain/money.ts";
import { exactPrice } from "../domain/price.ts";
import type { Release } from "../domain/release.ts";
import { fineSum, meteredLines } from "../pricing/cost-lines.ts";
import { nanoFromFine } from "../pricing/rates.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { instead } from "./refusal-causes.ts";
import { costElsewhere } from "./savings.ts";

const rates = {
  input_per_million: "3",
  cached_input_per_million: "0.3",
  cache_write_per_million: "3.75",
  output_per_million: "15",
};
const price = exactPrice({ ...rates, request_minimum: "0.01" });

test("another model's cost is that of one request with these tokens", () => {
  const usage = {
    promptTokens: 10_000,
    cachedTokens: 4_000,
    cacheWriteTokens: 1_000,
    completionTokens: 2_000,
  };
  const tokens = { requests: 1n, input: 10_000n, cached: 4_000n, written: 1_000n, output: 2_000n };
  expect(costElsewhere(tokens, price)).toBe(nanoFromFine(fineSum(meteredLines(usage, price))));
  expect(formatUsd(costElsewhere(tokens, price))).toBe("0.049950000");
  expect(formatUsd(costElsewhere({ ...tokens, requests: 7n }, price))).toBe("0.070000000");
  const none = { requests: 0n, input: 0n, cached: 9n, written: 9n, output: 0n };
  expect(formatUsd(costElsewhere(none, price))).toBe("0.000000000");
  const enormous = { requests: 1n, input: 2n ** 63n, cached: 0n, written: 0n, output: 0n };
  expect(formatUsd(costElsewhere(enormous, price))).toBe("27670116110564.327424000");
});

test("a prompt that is long on average is priced by the tier it reaches", () => {
  const tiered = exactPrice({
    ...rates,
    request_minimum: "0",
    tiers: [{ above_prompt_tokens: 200_000, input_per_million: "6", output_per_million: "30" }],
  });
  const tokens = { cached: 0n, written: 0n, output: 0n, input: 1_000_000n };
  expect(formatUsd(costElsewhere({ ...tokens, requests: 5n }, tiered))).toBe("3.000000000");
  expect(formatUsd(costElsewhere({ ...tokens, requests: 4n }, tiered))).toBe("6.000000000");
});

test("a closed model is replaced by a live, open one with as large a window; of several, the nearest in price", () => {
  const release = (model: string, output: string, more: Partial<Release> = {}): Release =>
    ({
      model,
      tier: "standard",
      requiresPaid: false,
      contextWindow: 1000,
      capabilities: { tools: true, images: false, max_n: 1 },
      price: exactPrice({ input_per_million: "1", output_per_million: output, request_minimum: "0" }),
      ...more,
    }) as Release;
  const closed = release("closed", "4");
  const standing = (one: Release, state: RouteStanding["state"] = "live") =>
    ({ release: one, state }) as RouteStanding;
  const near = release("near", "5");
  const others = [
    standing(closed),
    standing(release("far", "9")),
    standing(near),
    standing(release("dead", "4"), "unhealthy"),
    standing(release("small", "4", { contextWindow: 999 })),
    standing(release("secret", "4", { tier: "research" })),
    standing(release("toolless", "4", { capabilities: { ...closed.capabilities, tools: false } })),
    standing(release("vectors", "4", { capabilities: { ...closed.capabilities, embeddings: true } })),
    standing(release("paid", "4.5", { requiresPaid: true })),
  ];
  expect(instead(closed, others, false)).toBe(near);
  expect(instead(closed, others, true)?.model).toBe("paid");
  expect(instead(closed, [], true)).toBeNull();
});
