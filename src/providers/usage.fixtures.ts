// Recorded usage objects of all shapes, kept outside the repository, and their expected classes.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import type { ProviderUsage } from "./provider.ts";

const FILE = `${import.meta.dir}/../../../shared/fixtures/usages/usages.json`;

interface Row {
  format: string;
  model: string | null;
  usage?: unknown;
  usageMetadata?: unknown;
  expected: Record<string, number>;
}

/**
 * Defines the tests of one shape: each of its recordings, of which there must be more than `moreThan`, is read class
 * by class.
 */
export function readsRecordedUsages(
  format: string,
  moreThan: number,
  read: (told: unknown) => ProviderUsage | null,
): void {
  const all = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Row[]) : [];
  const rows = all.filter((row) => row.format === format);

  describe.skipIf(!existsSync(FILE))(`recorded usages, ${format}`, () => {
    test("there are some", () => {
      expect(rows.length).toBeGreaterThan(moreThan);
    });

    for (const [at, { model, usage, usageMetadata, expected }] of rows.entries())
      test(`${at}, ${model}: its classes are those that were read from it, and lie within their sums`, () => {
        const told = read(usage ?? usageMetadata);
        if (told === null) throw new Error("unread");
        expect(figuresOf(told)).toEqual(expectedFigures(expected));
        liesWithin(told);
      });
  });
}

/** Each class is part of its sum, and no token is in two classes; figures are integers from 0. */
export function liesWithin(told: ProviderUsage): void {
  const { serviceTier: _tier, calls: _calls, ...tokens } = told;
  for (const figure of Object.values(tokens))
    expect(figure === null || (Number.isSafeInteger(figure) && figure >= 0)).toBe(true);
  const sum = (...figures: (number | null)[]): number =>
    figures.reduce<number>((whole, one) => whole + (one ?? 0), 0);
  const { cachedTokens, cacheWriteTokens, audioInputTokens, imageInputTokens } = told;
  const input = sum(cachedTokens, cacheWriteTokens, audioInputTokens, imageInputTokens);
  expect(input).toBeLessThanOrEqual(told.promptTokens);
  expect(told.cacheWrite1hTokens ?? 0).toBeLessThanOrEqual(cacheWriteTokens ?? 0);
  expect(sum(told.reasoningTokens, told.audioOutputTokens)).toBeLessThanOrEqual(told.completionTokens);
}

const figuresOf = (told: ProviderUsage): object => ({
  input: told.promptTokens,
  output: told.completionTokens,
  cached: told.cachedTokens ?? 0,
  written: told.cacheWriteTokens ?? 0,
  writtenFor5m: (told.cacheWriteTokens ?? 0) - (told.cacheWrite1hTokens ?? 0),
  audioInput: told.audioInputTokens ?? 0,
  imageInput: told.imageInputTokens ?? 0,
  reasoning: told.reasoningTokens ?? 0,
  audioOutput: told.audioOutputTokens ?? 0,
  calls: told.calls ?? 0,
});

/** The recordings' classes overlap: cached audio and image tokens are reported in both. */
function expectedFigures(expected: Record<string, number>): object {
  const figure = (name: string, otherwise = 0): number => expected[name] ?? otherwise;
  const written = figure("cache_write_tokens");
  return {
    input: figure("input_tokens"),
    output: figure("output_tokens"),
    cached: figure("cache_read_tokens"),
    written,
    writtenFor5m: figure("cache_write_5m_tokens", written),
    audioInput: figure("input_audio_tokens") - figure("cache_audio_read_tokens"),
    imageInput: figure("input_image_tokens") - figure("cache_image_read_tokens"),
    reasoning: figure("output_reasoning_tokens"),
    audioOutput: figure("output_audio_tokens"),
    calls: figure("web_searches"),
  };
}
