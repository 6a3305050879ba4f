import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../contract/chat-request.ts";
import { measurePrompt } from "../contract/prompt-size.ts";
import { promptBound } from "./quote.ts";
import { cutAt } from "./token-pieces.ts";
import { TokenCounter } from "./token-counter.ts";
import { countTokens, promptTokens, stopCounting } from "./tokens.ts";

afterAll(stopCounting);

function request(content: string, tools: ChatRequest["tools"] = []): ChatRequest {
  const asked: ChatRequest = {
    model: "m",
    messages: [{ role: "user", content }],
    maxTokens: null,
    tools,
    toolChoice: null,
    responseFormat: null,
    reasoning: null,
    n: 1,
    temperature: null,
    stop: [],
    logprobs: false,
    topLogprobs: null,
    logitBias: null,
    stream: false,
    includeUsage: false,
    forwarded: {},
    identifiers: {},
    ignored: [],
    promptSize: { bytes: 0, messages: 0, tools: 0, images: 0 },
  };
  return { ...asked, promptSize: measurePrompt(asked) };
}

test("known texts have the counts that their tokenizers are known for", async () => {
  expect(await countTokens(["hello world"], "o200k_base")).toBe(2);
  expect(await countTokens(["hello world"], "cl100k_base")).toBe(2);
  expect(await countTokens(["漢字", "é"], "bytes")).toBe(8);
  expect(await countTokens([], "o200k_base")).toBe(0);
});

test("a word that arrives in two parts is counted as the one word it is", async () => {
  expect(await countTokens(["hel", "lo wor", "ld"], "o200k_base")).toBe(2);
});

test("names of special tokens are plain text", async () => {
  expect(await countTokens(["<|endoftext|><|im_start|>"], "o200k_base")).toBeGreaterThan(2);
});

test("pieces join to the text, are short, and never part a surrogate pair", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", " ", "😀", "漢", "\n"), maxLength: 5000 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 1024 }), (text, longest) => {
      const pieces: string[] = [];
      for (let start = 0; start < text.length; ) {
        const end = cutAt(text, start, longest);
        expect(end).toBeGreaterThan(start);
        pieces.push(text.slice(start, end));
        start = end;
      }
      expect(pieces.join("")).toBe(text);
      for (const piece of pieces) expect(piece.length <= longest && piece.isWellFormed()).toBe(true);
    }),
  );
});

test("a hundred kilobytes of one letter, blanks, emoji or CJK leave the loop free", async () => {
  await countTokens(["warm"], "o200k_base");
  for (const unit of ["a", " ", "😀", "漢"]) {
    let longestLagMs = 0;
    let lastTickMs = performance.now();
    const ticks = setInterval(() => {
      longestLagMs = Math.max(longestLagMs, performance.now() - lastTickMs);
      lastTickMs = performance.now();
    }, 1);
    const tokens = await countTokens([unit.repeat(100_000 / unit.length)], "o200k_base");
    clearInterval(ticks);
    expect(tokens).toBeGreaterThan(0);
    expect(longestLagMs).toBeLessThan(500);
  }
}, 120_000);

test("an exact prompt count is below the bound, keeps its overheads, and includes tools and schemas", async () => {
  const release = { tokenizer: "o200k_base", imageTokensMax: null } as const;
  const plain = request("The quick brown fox jumps over the lazy dog.");
  expect(await promptTokens(plain, release)).toBe(10 + 8 + 16);
  const tool = { type: "function", function: { name: "look_up", parameters: { type: "object" } } } as const;
  const withTool = request("The quick brown fox jumps over the lazy dog.", [tool]);
  expect(await promptTokens(withTool, release)).toBeGreaterThan(10 + 8 + 16 + 16);
  expect(await promptTokens(withTool, release)).toBeLessThan(promptBound(withTool.promptSize, null));
});

test("tokenizer `bytes` and a passed time limit answer with the bound", async () => {
  const asked = request("word ".repeat(100_000));
  const bound = promptBound(asked.promptSize, null);
  expect(await promptTokens(asked, { tokenizer: "bytes", imageTokensMax: null })).toBe(bound);
  expect(await promptTokens(asked, { tokenizer: "o200k_base", imageTokensMax: null }, -1)).toBe(bound);
});

test("counting goes on when the thread is stopped in the middle, and when it cannot start at all", async () => {
  const text = "some words here ".repeat(20_000);
  const whole = await countTokens([text], "o200k_base");
  const stopped = new TokenCounter();
  const counting = stopped.count(text, "o200k_base");
  stopped.stop();
  expect(await counting).toBe(whole);
  stopped.stop();
  const nowhere = new TokenCounter(new URL("./no-such-worker.ts", import.meta.url));
  expect(await nowhere.count("hello world", "o200k_base")).toBe(2);
  nowhere.stop();
}, 120_000);
