import { expect, test } from "bun:test";
import { CountedChunks } from "./counted-chunks.ts";

const chunk = {
  text: "some words ".repeat(1_000),
  tokenizer: "o200k_base",
  organizationId: "org_a",
} as const;

test("a chunk is known by its text, its tokenizer and who sent it; short ones have no name", () => {
  const chunks = new CountedChunks();
  const keys = [
    chunks.keyOf(chunk),
    chunks.keyOf({ ...chunk, text: `${chunk.text}!` }),
    chunks.keyOf({ ...chunk, tokenizer: "cl100k_base" }),
    chunks.keyOf({ ...chunk, organizationId: "org_b" }),
  ];
  expect(new Set(keys).size).toBe(4);
  expect(keys).not.toContain(null);
  expect(chunks.keyOf({ ...chunk })).toBe(keys[0] ?? "");
  expect(chunks.keyOf({ ...chunk, text: "some words" })).toBeNull();
});

test("what is asked for stays known while others come, and the rest is forgotten", () => {
  const chunks = new CountedChunks();
  chunks.remember("asked", 7);
  chunks.remember("not asked", 8);
  for (let other = 0; other < 50_000; other += 1) {
    chunks.remember(`other ${other}`, 1);
    if (other % 1_000 === 0) expect(chunks.tokensOf("asked")).toBe(7);
  }
  expect(chunks.tokensOf("not asked")).toBeNull();
  expect(chunks.tokensOf("other 49999")).toBe(1);
  expect(chunks.tokensOf("other 100")).toBeNull();
});
