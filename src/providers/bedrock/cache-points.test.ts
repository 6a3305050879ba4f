import { expect, test } from "bun:test";
import type { CacheMark, ChatRequest } from "../../domain/chat-request.ts";
import { nanoUsd } from "../../domain/money.ts";
import { callDraft } from "../openai/openai.fixtures.ts";
import { said } from "./bedrock.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const { prepared, bodyOf, user, call, use, thought, signed } = said;
const SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const { release } = callDraft();
const write = nanoUsd(1250n);
const PRICED = { cacheWrite: write };
const BOTH = { cacheWrite: write, cacheWrite1h: write };
const FIVE: CacheMark = { type: "ephemeral" };
const HOUR: CacheMark = { type: "ephemeral", ttl: "1h" };
const text = (words: string, cache_control?: CacheMark) => ({
  type: "text" as const,
  text: words,
  ...(cache_control && { cache_control }),
});

const request: Partial<ChatRequest> = {
  tools: [{ type: "function", function: { name: "weather" }, cache_control: HOUR }],
  messages: [
    { role: "system", content: [text("Be brief.", HOUR)] },
    user([text("a", FIVE), text("b")]),
    { role: "assistant", content: null, tool_calls: [call("x")] },
    { role: "tool", tool_call_id: "x", content: [text("rain", FIVE)] },
    user([text("c")]),
  ],
};
const at = (model: string, price: object, given = request) => {
  const how = { model, release: { ...release, price: { ...release.price, ...price } } };
  const { ignored } = prepared(given, how);
  return { ...bodyOf(given, how), ignored } as Record<string, unknown>;
};

const POINT = { cachePoint: { type: "default" } };
const LONG = { cachePoint: { type: "default", ttl: "1h" } };
const SPEC = { toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } };
const RAIN = { toolResult: { toolUseId: "x", content: [{ text: "rain" }] } };

test("marks of tools, instructions, messages and results are blocks of their own behind what is marked", () => {
  expect(at(SONNET, BOTH)).toMatchObject({
    toolConfig: { tools: [SPEC, LONG] },
    system: [{ text: "Be brief." }, LONG],
    messages: [
      { role: "user", content: [{ text: "a" }, POINT, { text: "b" }] },
      { role: "assistant", content: [use("x")] },
      { role: "user", content: [RAIN, POINT, { text: "c" }] },
    ],
    ignored: [],
  });
});

test("an image keeps its mark, and its data still weighs nothing", () => {
  const image = {
    type: "image_url" as const,
    image_url: { url: "data:image/png;base64,QUJD" },
    cache_control: FIVE,
  };
  const { messages } = at(SONNET, PRICED, { messages: [user([image])], images: 1 });
  expect(messages).toEqual([
    { role: "user", content: [{ image: { format: "png", source: { bytes: "QUJD" } } }, POINT] },
  ]);
});

test.each<
  [why: string, model: string, price: object, told: [points: number, hours: number, ignored: boolean]]
>([
  ["writing has no price", SONNET, {}, [0, 0, true]],
  ["an hour has no price", SONNET, PRICED, [4, 0, false]],
  ["a model that keeps five minutes", "anthropic.claude-3-7-sonnet-20250219-v1:0", BOTH, [4, 0, false]],
  ["a model of before 4.5", "anthropic.claude-opus-4-20250514-v1:0", BOTH, [4, 0, false]],
  ["a model that keeps an hour", "global.anthropic.claude-opus-4-6-v1:0", BOTH, [4, 2, false]],
  ["a model of before the cache", "anthropic.claude-3-haiku-20240307-v1:0", BOTH, [0, 0, true]],
  ["Nova keeps no tools and no results", "us.amazon.nova-2-lite-v1:0", BOTH, [2, 0, true]],
  ["the first Nova", "amazon.nova-pro-v1:0", BOTH, [2, 0, true]],
  ["another maker's", "meta.llama4-v1:0", BOTH, [0, 0, true]],
])("%s", (_, model, price, [points, hours, ignored]) => {
  const body = at(model, price);
  const printed = JSON.stringify(body);
  expect([printed.split('"cachePoint"').length - 1, printed.split('"1h"').length - 1]).toEqual([
    points,
    hours,
  ]);
  expect(body["ignored"]).toEqual(ignored ? ["cache_control"] : []);
  expect(printed).not.toContain('"cache_control":');
});

test("four marks at most, the last ones, and none of an hour behind one of five minutes", () => {
  const marks = [HOUR, HOUR, FIVE, HOUR, FIVE, HOUR];
  const messages = [user(marks.map((mark, n) => text(String(n), mark)))];
  expect(at(SONNET, BOTH, { messages })).toMatchObject({
    messages: [
      {
        content: ["0", "1", "2", "3", "4", "5"].flatMap((words) =>
          Number(words) < 2 ? [{ text: words }] : [{ text: words }, POINT],
        ),
      },
    ],
    ignored: [],
  });
});

test("a text that led to a call keeps its mark at its end, and no thought has one", () => {
  const content = [text("one two", FIVE)];
  const messages = [
    user("a"),
    { role: "assistant" as const, content, tool_calls: [call("x", signed("sig", "claude", "4"))] },
    said.result("x"),
  ];
  const sent = bodyOf(
    { messages, tools: said.tools },
    {
      model: "us.anthropic.claude-opus-4-6-v1:0",
      reasoningEffort: "low",
      release: { ...release, price: { ...release.price, ...PRICED } },
    },
  ) as { messages: { content: unknown[] }[] };
  expect(sent.messages[1]?.content).toEqual([
    { text: "one " },
    thought("sig"),
    { text: "two" },
    POINT,
    use("x"),
  ]);
});

test("the bound counts what marks add, the exact count does not: no model reads them", () => {
  const how = { model: SONNET, release: { ...release, price: { ...release.price, ...BOTH } } };
  const [marked, plain] = [prepared(request, how), prepared(request, { ...how, release })];
  expect(marked.size.bytes - plain.size.bytes).toBe(
    Buffer.byteLength(printedText(marked, 64)) - Buffer.byteLength(printedText(plain, 64)),
  );
  expect(marked.text()).toBe(plain.text());
});
