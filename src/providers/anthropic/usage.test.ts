import { expect, test } from "bun:test";
import fc from "fast-check";
import { liesWithin, readsRecordedUsages } from "../usage.fixtures.ts";
import { ClaudeUsage } from "./usage.ts";

readsRecordedUsages("anthropic-messages", 20, (told) => new ClaudeUsage().tell(told));

test("the end of a stream replaces what its beginning said, and what it does not say stands", () => {
  const usage = new ClaudeUsage();
  const begun = { input_tokens: 43, cache_read_input_tokens: 7, output_tokens: 1, service_tier: "standard" };
  expect(usage.tell(begun)).toMatchObject({ promptTokens: 50, completionTokens: 1 });
  expect(usage.tell({ input_tokens: 61, output_tokens: 2, cache_read_input_tokens: null })).toMatchObject({
    promptTokens: 68,
    completionTokens: 2,
    cachedTokens: 7,
    serviceTier: "standard",
  });
  expect(usage.tell({ output_tokens: 9 })).toMatchObject({ promptTokens: 68, completionTokens: 9 });
});

test("what lives for an hour is part of what was written", () => {
  const told = {
    input_tokens: 3,
    cache_creation_input_tokens: 100,
    cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
    cache_read_input_tokens: 20,
    output_tokens: 5,
  };
  expect(new ClaudeUsage().tell(told)).toMatchObject({
    promptTokens: 123,
    cachedTokens: 20,
    cacheWriteTokens: 100,
    cacheWrite1hTokens: 60,
  });
  const more = { ...told, cache_creation: { ephemeral_1h_input_tokens: 1000 } };
  expect(new ClaudeUsage().tell(more)?.cacheWrite1hTokens).toBe(100);
});

test("searches are counted by the piece, thoughts within the answer", () => {
  const told = {
    input_tokens: 3,
    output_tokens: 9,
    server_tool_use: { web_search_requests: 2 },
    output_tokens_details: { thinking_tokens: 5 },
  };
  expect(new ClaudeUsage().tell(told)).toMatchObject({ calls: 2, reasoningTokens: 5 });
});

test("figures that are none give no usage, so that the gateway counts by itself", () => {
  for (const wrong of [null, "9", [], { input_tokens: 1 }, { input_tokens: -1, output_tokens: 2 }])
    expect(new ClaudeUsage().tell(wrong)).toBeNull();
  const huge = Number.MAX_SAFE_INTEGER;
  const sum = { input_tokens: huge, cache_read_input_tokens: huge, output_tokens: 1 };
  expect(new ClaudeUsage().tell(sum)).toBeNull();
});

test("whatever is told, the classes lie within their sums", () => {
  const figure = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double(), fc.constant(null), fc.string());
  const told = fc.record(
    {
      input_tokens: figure,
      output_tokens: figure,
      cache_read_input_tokens: figure,
      cache_creation_input_tokens: figure,
      cache_creation: fc.record({ ephemeral_1h_input_tokens: figure }),
      output_tokens_details: fc.record({ thinking_tokens: figure }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(told, { maxLength: 3 }), (tellings) => {
      const usage = new ClaudeUsage();
      for (const telling of tellings) {
        const read = usage.tell(telling);
        if (read !== null) liesWithin(read);
      }
    }),
  );
});
