import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { ClaudeUsage } from "./usage.ts";

const FILE = `${import.meta.dir}/../../../../shared/fixtures/usages/usages.json`;

interface Recorded {
  format: string;
  model: string | null;
  usage: unknown;
  expected: Record<string, number>;
}

const rows = existsSync(FILE)
  ? (JSON.parse(readFileSync(FILE, "utf8")) as Recorded[]).filter(
      ({ format }) => format === "anthropic-messages",
    )
  : [];

describe.skipIf(!existsSync(FILE))("recorded usage", () => {
  test("there is some", () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  for (const [index, { model, usage, expected }] of rows.entries())
    test(`row ${index}, ${model}`, () => {
      const read = new ClaudeUsage().tell(usage);
      if (read === null) throw new Error("no figure");
      const { cache_read_tokens: cached = 0, cache_write_tokens: written = 0 } = expected;
      expect({
        input_tokens: read.promptTokens,
        output_tokens: read.completionTokens,
        cache_read_tokens: read.cachedTokens ?? 0,
        cache_write_tokens: read.cacheWriteTokens ?? 0,
        cache_write_5m_tokens: (read.cacheWriteTokens ?? 0) - (read.cacheWrite1hTokens ?? 0),
        output_reasoning_tokens: read.reasoningTokens ?? 0,
        web_searches: read.calls ?? 0,
      }).toEqual({
        input_tokens: expected["input_tokens"] ?? 0,
        output_tokens: expected["output_tokens"] ?? 0,
        cache_read_tokens: cached,
        cache_write_tokens: written,
        cache_write_5m_tokens: expected["cache_write_5m_tokens"] ?? written,
        output_reasoning_tokens: expected["output_reasoning_tokens"] ?? 0,
        web_searches: expected["web_searches"] ?? 0,
      });
      expect(read.promptTokens - cached - written).toBeGreaterThanOrEqual(0);
    });
});

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
        if (read === null) continue;
        const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = read;
        expect((cachedTokens ?? 0) + (cacheWriteTokens ?? 0)).toBeLessThanOrEqual(read.promptTokens);
        expect(cacheWrite1hTokens ?? 0).toBeLessThanOrEqual(cacheWriteTokens ?? 0);
        expect(reasoningTokens ?? 0).toBeLessThanOrEqual(read.completionTokens);
      }
    }),
  );
});
