import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Prompt } from "../domain/prompt.ts";
import { promptBound } from "./quote.ts";
import { cutAt } from "./token-pieces.ts";
import { type CountQuestion, CountingThread } from "./counting-thread.ts";
import { type Count, TokenCounter } from "./token-counter.ts";
import { countTokens, promptTokens, promptTokensWithin } from "./tokens.ts";
import type { TableName } from "./vocabulary.ts";

const SHARE = { organizationId: "org_a", lane: "settlement" } as const;
const NONE = { imageTokensMax: null, fileTokensMax: null };
/** No part of it comes twice: what was counted before is known. */
const words = (count: number): string => Array.from({ length: count }, (_, nth) => `w${nth} `).join("");
const MEGABYTES = words(515_000);
const IDEOGRAPHS = "漢字龍鬱麤";

/** Returns one user message and these tools, as in a provider's body. */
function prompt(content: string, tools = 0): Prompt {
  const text = content + '{"type":"function","function":{"name":"look_up"}}'.repeat(tools);
  const size = { bytes: Buffer.byteLength(text) + 100, messages: 1, tools, images: 0, files: 0 };
  return { size, text: () => text };
}

test("known texts have the counts that their tokenizers are known for", async () => {
  expect(await countTokens(["hello world"], "o200k_base", SHARE)).toBe(2);
  expect(await countTokens(["hello world"], "cl100k_base", SHARE)).toBe(2);
  expect(await countTokens(["漢字", "é"], "bytes", SHARE)).toBe(8);
  expect(await countTokens([], "o200k_base", SHARE)).toBe(0);
});

test("a word that arrives in two parts is counted as the one word it is", async () => {
  expect(await countTokens(["hel", "lo wor", "ld"], "o200k_base", SHARE)).toBe(2);
});

test("names of special tokens are plain text", async () => {
  expect(await countTokens(["<|endoftext|><|im_start|>"], "o200k_base", SHARE)).toBeGreaterThan(2);
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
  await countTokens(["warm"], "o200k_base", SHARE);
  const lag = async (unit: string): Promise<number> => {
    let longestLagMs = 0;
    let lastTickMs = performance.now();
    const ticks = setInterval(() => {
      longestLagMs = Math.max(longestLagMs, performance.now() - lastTickMs);
      lastTickMs = performance.now();
    }, 1);
    const tokens = await countTokens([unit.repeat(100_000 / unit.length)], "o200k_base", SHARE);
    clearInterval(ticks);
    expect(tokens).toBeGreaterThan(0);
    return longestLagMs;
  };
  for (const unit of ["a", " ", "😀", "漢"]) {
    // The best of several tries counts: other work on the machine may have disturbed the rest.
    let bestMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; bestMs >= 500 && tries < 10; tries += 1) bestMs = Math.min(bestMs, await lag(unit));
    expect(bestMs).toBeLessThan(500);
  }
}, 120_000);

test("an exact prompt count is below the bound, keeps its overheads, and includes tools and schemas", async () => {
  const release = { tokenizer: "o200k_base", ...NONE } as const;
  const plain = prompt("The quick brown fox jumps over the lazy dog.");
  expect(await promptTokens(plain, release, SHARE)).toBe(10 + 8 + 16);
  const withTool = prompt("The quick brown fox jumps over the lazy dog.", 1);
  expect(await promptTokens(withTool, release, SHARE)).toBeGreaterThan(10 + 8 + 16 + 16);
  expect(await promptTokens(withTool, release, SHARE)).toBeLessThan(promptBound(withTool.size, NONE));
});

test("the tokenizer `bytes` counts the text, not JSON around it", async () => {
  const asked = prompt("wörd ".repeat(100_000));
  expect(await promptTokens(asked, { tokenizer: "bytes", ...NONE }, SHARE)).toBe(600_000 + 8 + 16);
  expect(promptBound(asked.size, NONE)).toBe(600_000 + 100 + 8 + 16);
});

test("a count stops soon after its maximum, at its deadline, and when its client leaves", async () => {
  const release = { tokenizer: "o200k_base", ...NONE } as const;
  let nth = 0;
  const unknown = (): Prompt => prompt(`${(nth += 1)} ${words(250_000)}`);
  const within = (limits: Partial<Parameters<typeof promptTokensWithin>[2]>) =>
    promptTokensWithin(unknown(), release, { organizationId: "org_a", lane: "admission", ...limits });
  const above = await within({ atMost: 1000 });
  expect(above.kind).toBe("above");
  expect(above.tokens).toBeGreaterThan(1000);
  expect(above.tokens).toBeLessThan(20_000); // of some 700,000
  expect((await within({ deadlineMs: 1 })).kind).toBe("late");
  const client = new AbortController();
  const counting = within({ signal: client.signal });
  client.abort();
  expect((await counting).kind).toBe("left");
  expect((await within({ signal: client.signal })).kind).toBe("left");
}, 120_000);

test("what one organization has waiting for its admission is bounded, and no others are refused for it", async () => {
  const release = { tokenizer: "o200k_base", ...NONE } as const;
  const client = new AbortController();
  const ask = (organizationId: string, text = MEGABYTES) =>
    promptTokensWithin(prompt(text), release, { organizationId, lane: "admission", signal: client.signal });
  const waiting = Array.from({ length: 5 }, () => ask("org_a"));
  expect(await refusalOf(ask("org_a"))).toMatchObject({
    code: "rate_limit_exceeded",
    status: 429,
    retryAfterMs: 2_000,
  });
  const short = Array.from({ length: 200 }, () => ask("org_b", "short"));
  for (const { kind } of await Promise.all(short)) expect(kind).toBe("exact");
  const each = ["org_c", "org_d", "org_e", "org_f", "org_g", "org_h"];
  for (const other of each)
    waiting.push(...Array.from({ length: other === "org_h" ? 4 : 5 }, () => ask(other)));
  expect(await refusalOf(ask("org_z"))).toMatchObject({ code: "overloaded", status: 503 });
  client.abort();
  for (const { kind } of await Promise.all(waiting)) expect(kind).toBe("left");
  expect((await ask("org_a")).kind).toBe("left");
}, 120_000);

test("organizations take turns, and what is settled goes before everything else", async () => {
  const counter = new TokenCounter();
  const ended: string[] = [];
  const count = (name: string, characters: number, limits: { organizationId: string; rank: 0 | 1 }) =>
    counter
      .count(IDEOGRAPHS.repeat(characters / IDEOGRAPHS.length), "o200k_base", limits)
      .then(() => ended.push(name));
  await Promise.all([
    count("a's first", 1 << 18, { organizationId: "a", rank: 1 }),
    count("a's second", 1 << 18, { organizationId: "a", rank: 1 }),
    count("b's", 1 << 16, { organizationId: "b", rank: 1 }),
    count("settled", 1 << 17, { organizationId: "a", rank: 0 }),
  ]);
  expect(ended).toEqual(["settled", "b's", "a's first", "a's second"]);
  counter.stop();
}, 120_000);

test("a thread that dies, hangs, was stopped or cannot start is replaced, and its work is answered", async () => {
  const text = "some words here ".repeat(20_000);
  const limits = { organizationId: "org_a", rank: 0 } as const;
  const whole = await countTokens([text], "o200k_base", SHARE);
  const stopped = new TokenCounter();
  const counting = stopped.count(text, "o200k_base", limits);
  stopped.stop();
  expect(await counting).toEqual({ kind: "exact", tokens: whole });
  stopped.stop();
  for (const [source, silentMs] of [
    [new URL("./no-such-worker.ts", import.meta.url), 60_000],
    [threadThat("process.exit(1)"), 60_000],
    [threadThat("throw new Error('broken')"), 60_000],
    [threadThat("for (;;);"), 200],
  ] as const) {
    const broken = new TokenCounter(new CountingThread(source, silentMs));
    expect(await broken.count("hello world", "o200k_base", limits)).toEqual({ kind: "exact", tokens: 2 });
    broken.stop();
  }
}, 120_000);

test("a text that cannot be made fails its own count, and no other one", async () => {
  const counter = new TokenCounter();
  const count = (organizationId: string, text: string | (() => string)): Promise<Count> =>
    counter.count(text, "o200k_base", { organizationId, rank: 0 });
  const unmade = (): never => {
    throw new RangeError("Out of memory");
  };
  const [failed, beside] = await Promise.allSettled([count("a", unmade), count("b", "hello world")]);
  expect(failed).toMatchObject({ status: "rejected", reason: new RangeError("Out of memory") });
  expect(beside).toMatchObject({ status: "fulfilled", value: { kind: "exact", tokens: 2 } });
  expect(await count("c", "hello world")).toEqual({ kind: "exact", tokens: 2 });
  expect(counter.waiting()).toBe(0);
  counter.stop();
}, 120_000);

test("a table that cannot be read fails the counts that need it, and none beside them", async () => {
  const counter = new TokenCounter();
  const count = (organizationId: string, tokenizer: string): Promise<Count> =>
    counter.count("hello world", tokenizer as TableName, { organizationId, rank: 0 });
  const [failed, beside] = await Promise.allSettled([count("a", "no such table"), count("b", "o200k_base")]);
  expect(failed).toMatchObject({ status: "rejected" });
  expect(beside).toMatchObject({ status: "fulfilled", value: { kind: "exact", tokens: 2 } });
  counter.stop();
}, 120_000);

/** A counter, and how many characters its thread was asked to count. */
function watchedCounter(): { counter: TokenCounter; asked: () => number } {
  let characters = 0;
  class Watched extends CountingThread {
    override ask(texts: CountQuestion["texts"]): Promise<number[]> {
      for (const { text } of texts) characters += text.length;
      return super.ask(texts);
    }
  }
  const counter = new TokenCounter(new Watched());
  return {
    counter,
    asked: () => {
      const since = characters;
      characters = 0;
      return since;
    },
  };
}

test("a conversation that comes back longer is counted where it is new, to the same tokens", async () => {
  const { counter, asked } = watchedCounter();
  const limits = { organizationId: "org_a", rank: 0 } as const;
  const turns = Array.from({ length: 4_000 }, (_, turn) => `turn ${turn} reads file ${turn * 7}.ts; `);
  const first = turns.join("");
  const second = `${first}${"and the agent goes on. ".repeat(50)}`;
  const whole = await countTokens([second], "o200k_base", SHARE);
  await counter.count(first, "o200k_base", limits);
  expect(asked()).toBe(first.length);
  expect(await counter.count(second, "o200k_base", limits)).toEqual({ kind: "exact", tokens: whole });
  expect(asked()).toBeLessThan(2 * 16_384);
  const other = { ...limits, organizationId: "org_b" };
  expect(await counter.count(second, "o200k_base", other)).toEqual({ kind: "exact", tokens: whole });
  expect(asked()).toBe(second.length); // nobody learns what another organization has sent
  await counter.count(second, "cl100k_base", limits);
  expect(asked()).toBe(second.length);
  const changed = `turn -1 ${second}`;
  const counted = await counter.count(changed, "o200k_base", limits);
  expect(counted.tokens).toBe(await countTokens([changed], "o200k_base", SHARE));
  counter.stop();
}, 120_000);

test("what could not be counted is not known afterwards", async () => {
  const counter = new TokenCounter();
  for (let tries = 0; tries < 2; tries += 1)
    expect(
      await refusalOf(
        counter.count("a ".repeat(5_000), "no such table" as TableName, {
          organizationId: "a",
          rank: 0,
        }),
      ),
    ).toBeInstanceOf(Error);
  counter.stop();
}, 120_000);

/** Returns a thread that does this when asked. */
const threadThat = (does: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`self.onmessage = () => { ${does} };`)}`);

const refusalOf = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error);
