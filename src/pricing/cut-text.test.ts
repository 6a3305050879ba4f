import { expect, test } from "bun:test";
import { firstTokens } from "./cut-text.ts";
import { countTokens } from "./tokens.ts";

const share = { organizationId: "org", lane: "settlement" } as const;
const count = (texts: readonly string[]): Promise<number> => countTokens(texts, "o200k_base", share);
const inBytes = (texts: readonly string[]): Promise<number> => countTokens(texts, "bytes", share);

const TEXTS = [
  "the quick brown fox jumps ".repeat(200),
  "漢字かな".repeat(300),
  "😀".repeat(500),
  "   \n".repeat(400),
];

test("the beginning fits, and one step more would not have", async () => {
  for (const text of TEXTS) {
    for (const tokens of [0, 1, 10, 333]) {
      const kept = await firstTokens(text, tokens, count);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(await count([kept])).toBeLessThanOrEqual(tokens);
      if (kept === text) continue;
      const more = text.slice(0, kept.length + 3 + Math.ceil(kept.length / 128));
      expect(await count([more])).toBeGreaterThanOrEqual(tokens);
    }
  }
});

test("a text that fits is kept whole", async () => {
  expect(await firstTokens("hello world", 2, count)).toBe("hello world");
  expect(await firstTokens("hello world", 11, inBytes)).toBe("hello world");
  expect(await firstTokens("hello world", 5, inBytes)).toBe("hello");
  expect(await firstTokens("", 5, count)).toBe("");
});
