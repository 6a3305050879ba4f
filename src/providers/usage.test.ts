import { expect, test } from "bun:test";
import { readUsage } from "./usage.ts";

const usage = (
  prompt: number,
  completion: number,
  cached: number | null = null,
  reasoning: number | null = null,
) => ({
  promptTokens: prompt,
  completionTokens: completion,
  cachedTokens: cached,
  reasoningTokens: reasoning,
});

test("where the total disagrees, the completion is what is left of it", () => {
  expect(readUsage({ prompt_tokens: 12, completion_tokens: 2, total_tokens: 354 })).toEqual(usage(12, 342));
  expect(readUsage({ prompt_tokens: 12, completion_tokens: 2, total_tokens: 14 })).toEqual(usage(12, 2));
  expect(readUsage({ prompt_tokens: 12, completion_tokens: 2 })).toEqual(usage(12, 2));
});

test("a total that cannot be one is ignored", () => {
  expect(readUsage({ prompt_tokens: 12, completion_tokens: 2, total_tokens: 0 })).toEqual(usage(12, 2));
});

test("a missing figure follows from the other two", () => {
  expect(readUsage({ prompt_tokens: 12, total_tokens: 20 })).toEqual(usage(12, 8));
  expect(readUsage({ completion_tokens: 8, total_tokens: 20 })).toEqual(usage(12, 8));
});

test("an explicit zero stays zero", () => {
  expect(readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toEqual(usage(0, 0));
});

test("details are parts of their sums, in every spelling", () => {
  expect(
    readUsage({
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 99 },
      completion_tokens_details: { reasoning_tokens: 99 },
    }),
  ).toEqual(usage(10, 5, 10, 5));
  expect(readUsage({ prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 4 })).toEqual(
    usage(10, 5, 4),
  );
});

test("figures that are none give no usage, so that the gateway counts by itself", () => {
  for (const bad of [-1, 1.5, "3", null, 2 ** 60, {}])
    expect(readUsage({ prompt_tokens: bad, completion_tokens: bad })).toBeNull();
  for (const bad of [null, [], "usage", 7, {}]) expect(readUsage(bad)).toBeNull();
});
