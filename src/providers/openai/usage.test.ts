import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { NO_CLASSES } from "../../domain/token-classes.ts";
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

interface Recorded {
  format: string;
  usage: Record<string, unknown>;
  expected: Record<string, number>;
}
const RECORDED = (
  JSON.parse(
    readFileSync(`${import.meta.dir}/../../../../shared/fixtures/usages/usages.json`, "utf8"),
  ) as Recorded[]
).filter(({ format }) => format === "openai-chat");

const cachedOf = ({ expected }: Recorded): number => expected["cache_read_tokens"] ?? 0;

test(`the ${RECORDED.length} recorded usages of this shape are read as recorded`, () => {
  expect(RECORDED.length).toBeGreaterThan(30);
  for (const row of RECORDED) {
    const read = readUsage(row.usage);
    expect([row.usage, read]).toMatchObject([
      row.usage,
      {
        promptTokens: row.expected["input_tokens"] ?? 0,
        completionTokens: row.expected["output_tokens"] ?? 0,
        cachedTokens: read?.cachedTokens === null ? null : cachedOf(row),
        reasoningTokens:
          read?.reasoningTokens === null ? null : (row.expected["output_reasoning_tokens"] ?? 0),
      },
    ]);
    if (read?.cachedTokens === null) expect(cachedOf(row)).toBe(0);
    if (read?.reasoningTokens === null) expect(row.expected["output_reasoning_tokens"]).toBeUndefined();
  }
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
