import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_CLASSES } from "../../domain/token-classes.ts";
import { liesWithin, readsRecordedUsages } from "../usage.fixtures.ts";
import { readUsage } from "./usage.ts";

const usage = (
  prompt: number,
  completion: number,
  cached: number | null = null,
  reasoning: number | null = null,
) => ({
  promptTokens: prompt,
  completionTokens: completion,
  ...NO_CLASSES,
  cachedTokens: cached,
  reasoningTokens: reasoning,
});

test("where the total disagrees, the larger completion stands", () => {
  expect(readUsage({ prompt_tokens: 10, completion_tokens: 500, total_tokens: 10 })).toEqual(usage(10, 500));
  expect(readUsage({ prompt_tokens: 10, completion_tokens: 500, total_tokens: 400 })).toEqual(usage(10, 500));
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

readsRecordedUsages("openai-chat", 30, (told) => readUsage(told));

test("classes are read in their spellings, and cut to what the ones before them leave", () => {
  // xAI reports cached tokens that are also image tokens: each is one token.
  const overlapping = {
    prompt_tokens: 1000,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: 700, text_tokens: 200, image_tokens: 800, audio_tokens: 0 },
    completion_tokens_details: { audio_tokens: 60, reasoning_tokens: 0 },
    num_search_queries: 2,
  };
  expect(readUsage(overlapping)).toEqual({
    ...usage(1000, 50, 700, 0),
    imageInputTokens: 300,
    audioInputTokens: 0,
    audioOutputTokens: 50,
    calls: 2,
  });
  const searched = { prompt_tokens: 1, completion_tokens: 1, server_tool_use: { web_search_requests: 3 } };
  expect(readUsage(searched)?.calls).toBe(3);
});

test("whatever is told, the classes lie within their sums", () => {
  const figure = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double(), fc.constant(null), fc.string());
  const told = fc.record(
    {
      prompt_tokens: figure,
      completion_tokens: figure,
      total_tokens: figure,
      prompt_tokens_details: fc.record({
        cached_tokens: figure,
        cache_write_tokens: figure,
        audio_tokens: figure,
        image_tokens: figure,
      }),
      completion_tokens_details: fc.record({ reasoning_tokens: figure, audio_tokens: figure }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(told, (usage) => {
      const read = readUsage(usage);
      if (read !== null) liesWithin(read);
    }),
    { numRuns: 500 },
  );
});

test("a token of an answer is sound or a thought: it is charged as sound where both are told", () => {
  const details = { reasoning_tokens: 8, audio_tokens: 4 };
  expect(
    readUsage({ prompt_tokens: 1, completion_tokens: 10, completion_tokens_details: details }),
  ).toMatchObject({ audioOutputTokens: 4, reasoningTokens: 6 });
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

test("the tier of service is the one that the reply names", () => {
  const told = { prompt_tokens: 1, completion_tokens: 2 };
  expect(readUsage(told, "Flex")?.serviceTier).toBe("flex");
  expect(readUsage(told, { name: "flex" })?.serviceTier).toBeNull();
  expect(readUsage(told)?.serviceTier).toBeNull();
});
