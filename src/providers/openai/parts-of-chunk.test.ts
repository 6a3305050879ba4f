import { expect, test } from "bun:test";
import { Failure } from "../failure.ts";
import { ChunkReader } from "./parts-of-chunk.ts";
import type { Part } from "../provider.ts";

/** Returns the parts of a stream of chunks and of its end. */
function partsOf(chunks: Record<string, unknown>[], choices = 1): Part[] {
  const reader = new ChunkReader({ choices, logprobs: true, family: "acme" });
  const parts: Part[] = [];
  for (const chunk of chunks) reader.read(chunk, parts);
  reader.close(parts);
  return parts;
}

const chunk = (delta: object, rest: object = {}): Record<string, unknown> => ({
  choices: [{ index: 0, delta, ...rest }],
});
const call = (fragment: object): Record<string, unknown> => chunk({ tool_calls: [fragment] });
const named = (name: string, rest: object = {}): Record<string, unknown> =>
  call({ function: { name, arguments: "" }, ...rest });
const args = (text: unknown, rest: object = {}): Record<string, unknown> =>
  call({ function: { arguments: text }, ...rest });

/** Returns calls as a client would put them together. */
function callsOf(chunks: Record<string, unknown>[]): { id: string; name: string; arguments: string }[] {
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const part of partsOf(chunks)) {
    if (part.type === "tool_call") {
      expect(part.index).toBe(calls.length);
      calls.push({ id: part.id, name: part.name, arguments: "" });
    }
    if (part.type !== "tool_arguments") continue;
    const open = calls[part.index];
    if (open === undefined) throw new Error("arguments before their call");
    open.arguments += part.text;
  }
  return calls;
}

test("text, refusal and reasoning keep their order within a chunk", () => {
  const parts = partsOf([chunk({ refusal: "no", content: "t", reasoning_content: "r" })]);
  expect(parts.map(({ type }) => type)).toEqual(["reasoning", "text", "refusal"]);
});

test("citations of all chunks come once, before the finish, also those that were told behind it", () => {
  const citation = (url: string): object => ({
    type: "url_citation",
    url_citation: { start_index: 0, end_index: 1, url, title: "" },
  });
  const [a, b] = [citation("a"), citation("b")];
  expect(
    partsOf([
      chunk({ annotations: [a] }),
      chunk({ content: "t" }, { finish_reason: "stop" }),
      chunk({ annotations: [a, b] }),
    ]),
  ).toEqual([
    { type: "text", choice: 0, text: "t" },
    { type: "annotations", choice: 0, annotations: [a, b] as never },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("a role chunk, an empty list of choices and an empty delta are no parts", () => {
  expect(
    partsOf([chunk({ role: "assistant", content: "", refusal: null }), { choices: [] }, {}, chunk({})]),
  ).toEqual([]);
});

test("reasoning comes once, whichever spelling carries it", () => {
  const texts = [
    { reasoning_content: "r" },
    { reasoning: "r" },
    { reasoning: "r", reasoning_details: [{ type: "reasoning.text", text: "r" }] },
    {
      reasoning_details: [
        { type: "reasoning.summary", summary: "r" },
        { type: "reasoning.encrypted", data: "x" },
      ],
    },
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "r" }] }] },
  ];
  for (const delta of texts)
    expect(partsOf([chunk(delta)])).toEqual([{ type: "reasoning", choice: 0, text: "r" }]);
});

test("no text is lost behind a finish that comes on every chunk", () => {
  const finish = { finish_reason: "stop" };
  expect(partsOf([chunk({ content: "a" }, finish), chunk({ content: "b" }, finish)])).toEqual([
    { type: "text", choice: 0, text: "a" },
    { type: "text", choice: 0, text: "b" },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("a finish of stop beside tool calls is tool_calls", () => {
  const parts = partsOf([named("weather", { index: 0, id: "a" }), chunk({}, { finish_reason: "stop" })]);
  expect(parts.at(-1)).toEqual({ type: "finish", choice: 0, reason: "tool_calls" });
});

test("finish reasons in foreign words are translated, unknown ones are stop, a failure is a failure", () => {
  const reasonOf = (word: string): unknown => {
    const last = partsOf([chunk({}, { finish_reason: word })]).at(-1);
    return last?.type === "finish" ? last.reason : null;
  };
  expect(["length", "MAX_TOKENS", "function_call", "content_filter", "eos"].map(reasonOf)).toEqual([
    "length",
    "length",
    "tool_calls",
    "content_filter",
    "stop",
  ]);
  for (const word of ["error", "insufficient_system_resource"]) expect(() => reasonOf(word)).toThrow(Failure);
});

test("tool indexes count from 0 in order of appearance, whatever the upstream counts", () => {
  expect(
    callsOf([
      named("one", { index: 3, id: "a" }),
      args("{1", { index: 3 }),
      named("two", { index: 7, id: "b" }),
      args("{2}", { index: 7 }),
      args("}", { index: 3 }),
    ]),
  ).toEqual([
    { id: "a", name: "one", arguments: "{1}" },
    { id: "b", name: "two", arguments: "{2}" },
  ]);
});

test("calls without an index are told apart by id, else by name", () => {
  expect(
    callsOf([named("one", { id: "a" }), args("{1}", { id: "a" }), named("two", { id: "b" }), args("{2}")]),
  ).toEqual([
    { id: "a", name: "one", arguments: "{1}" },
    { id: "b", name: "two", arguments: "{2}" },
  ]);
  const minted = callsOf([named("one"), args("{1}"), named("two"), args("{2}")]);
  expect(minted.map((each) => each.arguments)).toEqual(["{1}", "{2}"]);
  for (const { id } of minted) expect(id).toMatch(/^call_\w{24}$/);
});

test("two calls that the upstream both numbers 0 stay two, and equal ids are made distinct", () => {
  expect(
    callsOf([
      call({ index: 0, id: "a", function: { name: "one", arguments: "{1}" } }),
      call({ index: 0, id: "b", function: { name: "two", arguments: "{2}" } }),
      args(" ", { index: 0 }),
    ]),
  ).toEqual([
    { id: "a", name: "one", arguments: "{1}" },
    { id: "b", name: "two", arguments: "{2} " },
  ]);
  const same = callsOf([named("f", { index: 0, id: "f" }), named("f", { index: 1, id: "f" })]);
  expect(new Set(same.map(({ id }) => id)).size).toBe(2);
});

test("repeated ids and names are told once", () => {
  const repeated = { index: 0, id: "a", type: "function" };
  expect(
    callsOf([
      call({ ...repeated, function: { name: "one", arguments: "{" } }),
      call({ ...repeated, function: { name: "one", arguments: "}" } }),
    ]),
  ).toEqual([{ id: "a", name: "one", arguments: "{}" }]);
});

test("arguments before the name wait for it; a call that never gets one is broken", () => {
  expect(
    callsOf([args("{", { index: 0, id: "a" }), named("one", { index: 0 }), args("}", { index: 0 })]),
  ).toEqual([{ id: "a", name: "one", arguments: "{}" }]);
  expect(() => callsOf([args("{}", { index: 0, id: "a" })])).toThrow(Failure);
});

test("arguments as an object become text, the old function_call becomes a tool call", () => {
  expect(callsOf([args({ a: 1 }, { function: { name: "one", arguments: { a: 1 } } })])[0]?.arguments).toBe(
    `{"a":1}`,
  );
  const old = callsOf([
    chunk({ function_call: { name: "one", arguments: "{" } }),
    chunk({ function_call: { arguments: "}" } }),
  ]);
  expect(old).toMatchObject([{ name: "one", arguments: "{}" }]);
});

test("numbers of arguments that come as an object leave as they were written, also those that no double holds", () => {
  const input = '{"id":175928847299117063,"rows":[{"id":-9007199254740993}],"x":1e400}';
  const called = `[{"index":0,"id":"c","function":{"name":"f","arguments":${input}}}]`;
  const told: Part[] = [];
  const reader = (): ChunkReader => new ChunkReader({ choices: 1, logprobs: true, family: "acme" });
  reader().event(`{"choices":[{"index":0,"delta":{"tool_calls":${called}}}]}`, told);
  reader().whole(`{"choices":[{"index":0,"message":{"tool_calls":${called}}}]}`, told);
  const text = told.flatMap((part) => (part.type === "tool_arguments" ? [part.text] : []));
  expect(text).toEqual([input, input]);
});

test("provider state leaves on the call's first part, under the provider's name", () => {
  const [first] = partsOf([named("one", { index: 0, id: "a", extra_content: { google: { s: 1 } } })]);
  expect(first).toMatchObject({ type: "tool_call", extraContent: { acme: { google: { s: 1 } } } });
});

test("log probabilities come along also without text", () => {
  const logprobs = { content: [{ token: "\\xf0", logprob: -1 }] };
  expect(partsOf([chunk({ content: "" }, { logprobs })])).toEqual([
    { type: "text", choice: 0, text: "", logprobs },
  ]);
  expect(partsOf([chunk({ content: "" }, { logprobs: { content: [] } })])).toEqual([]);
});

test("choices beyond those asked for are dropped, each of the others finishes once", () => {
  const two = { choices: [1, 0, 2, -1, 0.5, "0"].map((index) => ({ index, delta: { content: "x" } })) };
  const ends = { choices: [1, 0].map((index) => ({ index, delta: {}, finish_reason: "stop" })) };
  const parts = partsOf([two, ends, ends], 2);
  expect(parts.filter(({ type }) => type === "text")).toHaveLength(2);
  expect(parts.filter(({ type }) => type === "finish")).toEqual([
    { type: "finish", choice: 0, reason: "stop" },
    { type: "finish", choice: 1, reason: "stop" },
  ]);
});

test("usage is told each time and where it stands, so that the last counts", () => {
  const figures = (n: number): object => ({ prompt_tokens: 1, completion_tokens: n });
  const reader = new ChunkReader({ choices: 1, logprobs: false, family: "acme" });
  const parts: Part[] = [];
  reader.read({ ...chunk({ role: "assistant" }), usage: figures(1) }, parts);
  reader.read({ ...chunk({ content: "a" }), usage: figures(2) }, parts);
  reader.read({ choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: figures(3) }] }, parts);
  reader.read({ choices: [], x_groq: { usage: figures(4) } }, parts);
  reader.close(parts);
  const told = parts.filter((part) => part.type === "usage").map(({ usage }) => usage.completionTokens);
  expect(told).toEqual([1, 2, 3, 4]);
});
