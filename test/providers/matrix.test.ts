// Every upstream shape through every surface, streamed and whole: the content arrives unchanged, in a form that a
// strict client of the surface reads, and costs the same on every surface (surfaces.md, head; wire.md §8.2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type HeardAnswer, HEARS, SAYS, type Spoken } from "./answers.ts";
import { type Scripted, startScripted } from "./scripted.ts";

let house: Scripted;
beforeAll(async () => {
  house = await startScripted();
});
afterAll(() => house.stop());

const figures = { prompt: 20, completion: 40 };
const look = { id: "call_1", name: "look", args: { at: "the sky", n: 3 } };
const fetches = { id: "call_2", name: "fetch", args: { a: [1, { b: "}" }], c: "\u2028é" } };
const nothing = { id: "call_3", name: "now", args: {} };

const CASES: Record<string, Spoken> = {
  text: { text: "Hello, world", end: "stop", ...figures },
  "a structured answer": { text: '{"a":{"b":[1,2,"\\u00e9"]}}', end: "stop", ...figures },
  thinking: { reasoning: "Let me think.", text: "Hello", end: "stop", ...figures },
  "a call": { calls: [look], end: "tool_calls", ...figures },
  "a call behind words and thoughts": {
    reasoning: "I should look.",
    text: "Let me look.",
    calls: [look],
    end: "tool_calls",
    ...figures,
  },
  "parallel calls": { calls: [look, fetches, nothing], end: "tool_calls", ...figures },
  "the end of its length": { text: "Hello, wor", end: "length", ...figures },
  "the end of its length in thought": { reasoning: "Let me think about", end: "length", ...figures },
  "a filter": { text: "Hello", end: "content_filter", ...figures },
  nothing: { text: "", end: "stop", ...figures },
  "tokens alone": { text: "", end: "length", prompt: 20, completion: 200 },
};

const EMPTY: HeardAnswer = { reasoning: "", text: "", refusal: "", calls: [], end: "stop", usage: null };
const shapes = Object.keys(SAYS) as (keyof typeof SAYS)[];
const surfaces = Object.keys(HEARS) as (keyof typeof HEARS)[];
const rows = shapes.flatMap((shape) =>
  surfaces.flatMap((path) => [true, false].map((stream) => [shape, path, stream] as const)),
);
const offered = [look, fetches, nothing].map(({ name }) => name);

for (const [name, spoken] of Object.entries(CASES))
  test.each(rows)(`${name}: %s, %s, streamed %p`, async (shape, path, stream) => {
    const { reasoning = "", text = "", calls = [], end, prompt, completion } = spoken;
    const said = SAYS[shape](spoken, false);
    house.says(stream ? said.stream : said.whole);
    const { status, text: raw, record } = await house.post(path, HEARS[path].ask(shape, stream, offered));
    expect([status, raw]).toEqual([200, raw]);
    expect(HEARS[path].hear(raw, stream)).toEqual({
      ...EMPTY,
      reasoning,
      text,
      end,
      usage: [prompt, completion],
      calls: calls.map(({ name: called, args }) => ({ name: called, args })),
    });
    expect(record).toMatchObject({
      state: "settled",
      evidence: "provider_usage",
      usage: { promptTokens: prompt, completionTokens: completion },
      charge: BigInt(Math.max((prompt + completion) * 2_000, 100_000)),
    });
  });

const REFUSING = ["openai", "claude"] as const;
test.each(REFUSING.flatMap((shape) => rows.filter(([of]) => of === shape)))(
  "a refusal: %s, %s, streamed %p",
  async (shape, path, stream) => {
    const said = SAYS[shape]({ refusal: "I cannot.", end: "stop", ...figures }, false);
    house.says(stream ? said.stream : said.whole);
    const { text: raw, record } = await house.post(path, HEARS[path].ask(shape, stream, []));
    const heard = HEARS[path].hear(raw, stream);
    if (path === "/v1/messages") expect(heard.end).toBe("content_filter");
    else
      expect([heard.refusal, heard.end]).toEqual([
        "I cannot.",
        shape === "claude" ? "content_filter" : "stop",
      ]);
    expect(record.usage).toMatchObject({ promptTokens: 20, completionTokens: 40 });
  },
);

const BROKEN: Record<string, Spoken> = {
  words: { text: "Hello, world", end: "stop", ...figures },
  "a call": { text: "Let me look", calls: [look], end: "tool_calls", ...figures },
  thoughts: { reasoning: "Let me think.", end: "stop", ...figures },
};
const charges = new Map<string, Set<bigint>>();
for (const [name, spoken] of Object.entries(BROKEN))
  test.each(rows.filter(([, , stream]) => stream))(
    `a failure behind ${name} is reported, and what was delivered is charged, the same everywhere: %s, %s`,
    async (shape, path) => {
      house.says(SAYS[shape](spoken, true).stream);
      const { status, text: raw, record } = await house.post(path, HEARS[path].ask(shape, true, offered));
      expect(status).toBe(200);
      const { end, text, reasoning, calls } = HEARS[path].hear(raw, true);
      expect([end, text, reasoning]).toEqual(["error", spoken.text ?? "", spoken.reasoning ?? ""]);
      expect(calls).toHaveLength(spoken.calls?.length ?? 0);
      expect(record).toMatchObject({ state: "settled", evidence: "delivered_tokens" });
      // Claude reports its prompt at the beginning; for the others what each is sent is counted.
      const told = charges.get(`${name} ${shape}`) ?? new Set();
      told.add(BigInt(record.usage?.completionTokens ?? -1));
      charges.set(`${name} ${shape}`, told);
      expect(told.size).toBe(1);
    },
  );
