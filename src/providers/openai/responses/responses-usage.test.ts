import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_CLASSES } from "../../../domain/token-classes.ts";
import { liesWithin, readsRecordedUsages } from "../../usage.fixtures.ts";
import { readResponsesUsage } from "./responses-usage.ts";

readsRecordedUsages("openai-responses", 26, (told) => readResponsesUsage(told));

test("figures come under this shape's names, tier and searches from the response beside them", () => {
  const told = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
    output_tokens: 6,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 16,
  };
  const response = { service_tier: "Flex", tool_usage: { web_search: { num_requests: 2 } } };
  expect(readResponsesUsage(told, response)).toEqual({
    ...NO_CLASSES,
    promptTokens: 10,
    completionTokens: 6,
    cachedTokens: 4,
    cacheWriteTokens: 3,
    reasoningTokens: 5,
    calls: 2,
    serviceTier: "flex",
  });
});

test("whatever is told, the classes lie within their sums; what is no figure is no usage", () => {
  const figure = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double(), fc.constant(null), fc.string());
  const told = fc.record(
    {
      input_tokens: figure,
      output_tokens: figure,
      total_tokens: figure,
      input_tokens_details: fc.record({ cached_tokens: figure, cache_write_tokens: figure }),
      output_tokens_details: fc.record({ reasoning_tokens: figure }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(told, (usage) => {
      const read = readResponsesUsage(usage);
      if (read !== null) liesWithin(read);
    }),
    { numRuns: 300 },
  );
  for (const bad of [null, [], "usage", 7, {}, { input_tokens: -1, output_tokens: 2 }])
    expect(readResponsesUsage(bad)).toBeNull();
  for (const tool_usage of [
    7,
    {},
    { web_search: { num_requests: -1 } },
    { web_search: { num_requests: 0.5 } },
  ])
    expect(readResponsesUsage({ input_tokens: 1, output_tokens: 2 }, { tool_usage })?.calls).toBeNull();
});
