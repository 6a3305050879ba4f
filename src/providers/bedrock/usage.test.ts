import { expect, test } from "bun:test";
import fc from "fast-check";
import { liesWithin, readsRecordedUsages } from "../usage.fixtures.ts";
import { converseUsage } from "./usage.ts";

readsRecordedUsages("bedrock-converse", 5, (told) => converseUsage(told, null));

test("what lives for an hour is part of what was written", () => {
  const usage = { inputTokens: 3, outputTokens: 5, cacheReadInputTokens: 10, cacheWriteInputTokens: 20 };
  const details = [
    { inputTokens: 12, ttl: "1h" },
    { inputTokens: 8, ttl: "5m" },
  ];
  expect(converseUsage({ ...usage, cacheDetails: details }, { type: "Flex" })).toMatchObject({
    promptTokens: 33,
    completionTokens: 5,
    cachedTokens: 10,
    cacheWriteTokens: 20,
    cacheWrite1hTokens: 12,
    serviceTier: "flex",
  });
  expect(converseUsage({ ...usage, cacheDetails: [{ inputTokens: 99, ttl: "1h" }] }, null)).toMatchObject({
    cacheWrite1hTokens: 20,
  });
  expect(converseUsage(usage, null)?.cacheWrite1hTokens).toBeNull();
});

test("hidden output is told by the total; what is no figure is none", () => {
  expect(converseUsage({ inputTokens: 3, outputTokens: 5, totalTokens: 30 }, null)?.completionTokens).toBe(
    27,
  );
  expect(converseUsage({ inputTokens: 3, outputTokens: 5, totalTokens: 1 }, null)?.completionTokens).toBe(5);
  for (const odd of [
    null,
    [],
    {},
    { inputTokens: -1, outputTokens: 1 },
    { inputTokens: 1 },
    { outputTokens: 1 },
  ])
    expect(converseUsage(odd, null)).toBeNull();
});

test("whatever is told, the classes lie within their sums", () => {
  const figure = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double(), fc.constant(null), fc.string());
  const told = fc.record(
    {
      inputTokens: figure,
      outputTokens: figure,
      totalTokens: figure,
      cacheReadInputTokens: figure,
      cacheWriteInputTokens: figure,
      cacheDetails: fc.array(fc.record({ ttl: fc.constantFrom("5m", "1h"), inputTokens: figure })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(told, (usage) => {
      const read = converseUsage(usage, null);
      if (read !== null) liesWithin(read);
    }),
    { numRuns: 500 },
  );
  const huge = Number.MAX_SAFE_INTEGER;
  const sum = { inputTokens: huge, cacheReadInputTokens: huge, outputTokens: 1 };
  expect(converseUsage(sum, null)).toBeNull();
});
