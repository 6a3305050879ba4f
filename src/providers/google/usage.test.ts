import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { geminiUsage } from "./usage.ts";

const ROOM = `${import.meta.dir}/../../../../shared/fixtures/usages/usages.json`;

interface Row {
  format: string;
  model: string | null;
  usageMetadata: Record<string, unknown>;
  expected: Record<string, number>;
}

const rows = existsSync(ROOM)
  ? (JSON.parse(readFileSync(ROOM, "utf8")) as Row[]).filter(
      ({ format }) => format === "gemini-generate-content",
    )
  : [];

describe.skipIf(!existsSync(ROOM))("recorded usages of Gemini", () => {
  test("there are some", () => {
    expect(rows.length).toBeGreaterThan(30);
  });

  for (const [at, { model, usageMetadata, expected }] of rows.entries())
    test(`${at}, ${model}: its classes partition prompt and completion, and are those that were read from it`, () => {
      const usage = geminiUsage(usageMetadata);
      if (usage === null) throw new Error("unread");
      const figure = (name: string): number => expected[name] ?? 0;
      expect(usage.promptTokens).toBe(figure("input_tokens"));
      expect(usage.completionTokens).toBe(figure("output_tokens"));
      expect(usage.cachedTokens ?? 0).toBe(figure("cache_read_tokens"));
      expect(usage.reasoningTokens ?? 0).toBe(figure("output_reasoning_tokens"));
      // Theirs overlap: what of sound and images was cached is told in both.
      expect(usage.audioInputTokens ?? 0).toBe(
        figure("input_audio_tokens") - figure("cache_audio_read_tokens"),
      );
      expect(usage.imageInputTokens ?? 0).toBe(
        figure("input_image_tokens") - figure("cache_image_read_tokens"),
      );
      const { cachedTokens, audioInputTokens, imageInputTokens, reasoningTokens, audioOutputTokens } = usage;
      expect((cachedTokens ?? 0) + (audioInputTokens ?? 0) + (imageInputTokens ?? 0)).toBeLessThanOrEqual(
        usage.promptTokens,
      );
      expect((reasoningTokens ?? 0) + (audioOutputTokens ?? 0)).toBeLessThanOrEqual(usage.completionTokens);
    });
});

test("whatever it tells, the classes lie within the totals, or nothing was told", () => {
  const figure = fc.oneof(
    fc.nat(1000),
    fc.constantFrom(-1, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN, "7", null, undefined, []),
  );
  const details = fc.array(
    fc.record({ modality: fc.constantFrom("TEXT", "AUDIO", "IMAGE", "DOCUMENT", 7), tokenCount: figure }),
    { maxLength: 4 },
  );
  const usage = fc.record({
    promptTokenCount: figure,
    toolUsePromptTokenCount: figure,
    candidatesTokenCount: figure,
    thoughtsTokenCount: figure,
    totalTokenCount: figure,
    cachedContentTokenCount: figure,
    promptTokensDetails: details,
    toolUsePromptTokensDetails: fc.oneof(details, fc.constant("no list")),
    cacheTokensDetails: details,
    candidatesTokensDetails: details,
  });
  fc.assert(
    fc.property(usage, (told) => {
      const read = geminiUsage(told);
      if (read === null) return;
      const input = [read.cachedTokens, read.audioInputTokens, read.imageInputTokens];
      const output = [read.reasoningTokens, read.audioOutputTokens];
      for (const figures of [input, output, [read.promptTokens, read.completionTokens]])
        for (const one of figures) expect(Number.isSafeInteger(one ?? 0) && (one ?? 0) >= 0).toBe(true);
      const sum = (figures: (number | null)[]): number =>
        figures.reduce<number>((all, one) => all + (one ?? 0), 0);
      expect(sum(input)).toBeLessThanOrEqual(read.promptTokens);
      expect(sum(output)).toBeLessThanOrEqual(read.completionTokens);
    }),
    { numRuns: 500 },
  );
});

test("an event that counts nothing yet tells of no usage", () => {
  expect(geminiUsage({ trafficType: "PROVISIONED_THROUGHPUT" })).toBeNull();
  expect(geminiUsage(null)).toBeNull();
  expect(geminiUsage("7")).toBeNull();
});

test("thoughts stand beside the candidates, with a total or without", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7 };
  expect(geminiUsage(told)).toMatchObject({ completionTokens: 12, reasoningTokens: 7 });
  expect(geminiUsage({ ...told, totalTokenCount: 22 })).toMatchObject({ completionTokens: 12 });
});

test("a total above what was told apart is believed: something of the answer was left out", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 40 };
  expect(geminiUsage(told)?.completionTokens).toBe(30);
  expect(geminiUsage({ ...told, totalTokenCount: 3 })?.completionTokens).toBe(5);
});

test("the tier of service, in either word", () => {
  const tier = (told: object): string | null | undefined =>
    geminiUsage({ promptTokenCount: 1, ...told })?.serviceTier;
  expect(tier({ serviceTier: "PRIORITY" })).toBe("priority");
  expect(tier({ trafficType: "ON_DEMAND_FLEX" })).toBe("flex");
  expect(tier({ trafficType: "ON_DEMAND" })).toBeNull();
  expect(tier({})).toBeNull();
});
