import { expect, test } from "bun:test";
import { Failure } from "../failure.ts";
import { answerOf } from "../http/answer.ts";
import type { Part } from "../provider.ts";
import { began, ended, finished, grew, heardOf, started, STOPPED } from "./anthropic.fixtures.ts";
import { ClaudeReader } from "./reader.ts";

const text = (index: number, words: string): object[] => [
  began(index, { type: "text", text: "" }),
  grew(index, { type: "text_delta", text: words }),
  ended(index),
];
const call = (index: number, id: string, json: string): object[] => [
  began(index, { type: "tool_use", id, name: "weather", input: {} }),
  grew(index, { type: "input_json_delta", partial_json: "" }),
  grew(index, { type: "input_json_delta", partial_json: json }),
  ended(index),
];
const thought = (index: number, words: string, signature: string): object[] => [
  began(index, { type: "thinking", thinking: "", signature: "" }),
  ...(words === "" ? [] : [grew(index, { type: "thinking_delta", thinking: words })]),
  grew(index, { type: "signature_delta", signature }),
  ended(index),
];
const thinking = (words: string, signature: string, after?: string): object => ({
  index: 0,
  type: "thinking",
  thinking: words,
  signature,
  ...(after !== undefined && { after }),
});

test("each call has an id of its own, whatever the upstream calls them", () => {
  const ids = heardOf([
    started(),
    ...call(0, "toolu_1", "{}"),
    ...call(1, "toolu_1", "{}"),
    ...call(2, "", "{}"),
    ...call(3, "x".repeat(600), "{}"),
    STOPPED,
  ]).flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
  expect(ids).toHaveLength(4);
  expect(ids[0]).toBe("toolu_1");
  for (const id of ids.slice(1)) expect(id).toMatch(/^call_\w{24}$/);
  expect(new Set(ids).size).toBe(4);
});

test("calls count from 0 whatever their blocks count; each takes the thoughts in front of it along, once", () => {
  const parts = heardOf([
    started(),
    ...thought(0, "Two places.", "sig-a"),
    began(1, { type: "redacted_thinking", data: "sealed" }),
    ended(1),
    ...text(2, "Looking."),
    ...call(3, "toolu_1", '{"city":"Oslo"}'),
    ...thought(4, "", "sig-b"),
    ...call(5, "toolu_2", '{"city":"Rome"}'),
    ...call(6, "toolu_3", "{}"),
    finished("tool_use"),
    STOPPED,
  ]);
  expect(parts.filter(({ type }) => type === "tool_call")).toEqual([
    {
      type: "tool_call",
      choice: 0,
      index: 0,
      id: "toolu_1",
      name: "weather",
      extraContent: {
        anthropic: {
          thinking: [
            thinking("Two places.", "sig-a"),
            { index: 1, type: "redacted_thinking", data: "sealed" },
          ],
        },
      },
    },
    {
      type: "tool_call",
      choice: 0,
      index: 1,
      id: "toolu_2",
      name: "weather",
      extraContent: { anthropic: { thinking: [thinking("", "sig-b", "8")] } },
    },
    { type: "tool_call", choice: 0, index: 2, id: "toolu_3", name: "weather" },
  ]);
  const said = parts.flatMap((part) => (part.type === "tool_arguments" ? [[part.index, part.text]] : []));
  expect(said).toEqual([
    [0, '{"city":"Oslo"}'],
    [1, '{"city":"Rome"}'],
    [2, "{}"],
  ]);
  expect(parts.at(-1)).toEqual({ type: "finish", choice: 0, reason: "tool_calls" });
  expect(JSON.stringify(parts.filter(({ type }) => type !== "tool_call"))).not.toContain("sig-");
});

test("a second signature replaces the first; a thought without one is not kept", () => {
  const parts = heardOf([
    started(),
    began(0, { type: "thinking", thinking: "", signature: "old" }),
    grew(0, { type: "signature_delta", signature: "new" }),
    ended(0),
    began(1, { type: "thinking", thinking: "unsigned" }),
    ended(1),
    ...call(2, "toolu_1", "{}"),
    finished("tool_use"),
  ]);
  expect(parts.find(({ type }) => type === "tool_call")).toMatchObject({
    extraContent: { anthropic: { thinking: [thinking("", "new")] } },
  });
});

test("thoughts without end are told, and not kept", () => {
  const long = "x".repeat(600_000);
  const parts = heardOf([
    started(),
    ...thought(0, long, "a"),
    ...thought(1, long, "b"),
    ...call(2, "toolu_1", "{}"),
    ...thought(3, "short", "c"),
    ...call(4, "toolu_2", "{}"),
    finished("tool_use"),
  ]);
  const told = parts.flatMap((part) => (part.type === "reasoning" ? [part.text.length] : []));
  expect(told).toEqual([600_000, 600_000, 5]);
  const calls = parts.filter(({ type }) => type === "tool_call");
  expect(calls[0]).not.toHaveProperty("extraContent");
  expect(calls[1]).toMatchObject({ extraContent: { anthropic: { thinking: [thinking("short", "c")] } } });
});

test("what nobody knows is passed over", () => {
  const parts = heardOf([
    started(),
    { type: "ping" },
    { type: "something_new", index: 0, delta: { type: "text_delta", text: "no" } },
    began(0, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }),
    grew(0, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
    ended(0),
    began(1, { type: "web_search_tool_result", content: [{ type: "web_search_result", url: "https://a" }] }),
    ended(1),
    began(2, { type: "hologram", text: "no" }),
    grew(2, { type: "hologram_delta", text: "no" }),
    grew(7, { type: "input_json_delta", partial_json: "no" }),
    grew(7, { type: "thinking_delta", thinking: "no" }),
    ...text(3, "yes"),
    finished("end_turn"),
  ]);
  expect(parts.filter(({ type }) => type !== "usage")).toEqual([
    { type: "text", choice: 0, text: "yes" },
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("a page that a text speaks from is an annotation of that text; one without an address is none", () => {
  const parts = heardOf([
    started(),
    ...text(0, "Well, "),
    began(1, { type: "text", text: "", citations: [] }),
    grew(1, { type: "text_delta", text: "it rains" }),
    grew(1, {
      type: "citations_delta",
      citation: {
        type: "web_search_result_location",
        url: "https://weather.test/oslo",
        title: "Oslo",
        cited_text: "rain",
      },
    }),
    grew(1, { type: "citations_delta", citation: { type: "char_location", document_title: "a file" } }),
    grew(1, {
      type: "citations_delta",
      citation: { type: "search_result_location", source: "javascript:x" },
    }),
    ended(1),
    ...text(2, "."),
    finished("end_turn"),
  ]);
  expect(parts.find(({ type }) => type === "annotations")).toEqual({
    type: "annotations",
    choice: 0,
    annotations: [
      {
        type: "url_citation",
        url_citation: { start_index: 6, end_index: 14, url: "https://weather.test/oslo", title: "Oslo" },
      },
    ],
  });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["a_word_to_come", "stop"],
])("it ended by %s: %s", (word, reason) => {
  const parts = heardOf([started(), ...text(0, "a"), finished(word)]);
  expect(parts.at(-1)).toEqual({ type: "finish", choice: 0, reason: reason as never });
});

test("why it was refused is the refusal, and no content", () => {
  const details = { stop_details: { type: "refusal", category: "cyber", explanation: "Not that." } };
  const parts = heardOf([started(), finished("refusal", details)]);
  expect(parts.filter(({ type }) => type !== "usage")).toEqual([
    { type: "refusal", choice: 0, text: "Not that.", explains: true },
    { type: "finish", choice: 0, reason: "content_filter" },
  ]);
});

test("numbers of arguments that come written leave as they were, also those that no double holds", () => {
  const input = '{"id":175928847299117063,"rows":[{"id":-9007199254740993}],"x":1e400}';
  const block = `{"type":"tool_use","id":"toolu_1","name":"f","input":${input}}`;
  const usage = '"usage":{"input_tokens":1,"output_tokens":1}';
  const said = (read: (reader: ClaudeReader, parts: Part[]) => void): string => {
    const parts: Part[] = [];
    const reader = new ClaudeReader();
    read(reader, parts);
    reader.close(parts);
    return parts.map((part) => (part.type === "tool_arguments" ? part.text : "")).join("");
  };
  const body = `{"id":"m","type":"message","content":[${block}],"stop_reason":"tool_use",${usage}}`;
  expect(said((reader, parts) => reader.whole(body, parts))).toBe(input);
  const event = `{"type":"content_block_start","index":0,"content_block":${block}}`;
  expect(said((reader, parts) => reader.event(event, parts))).toBe(input);
});

test("content that comes written with the beginning counts, and once", () => {
  const message = {
    id: "msg_9",
    content: [
      { type: "text", text: "Hm." },
      { type: "tool_use", id: "toolu_9", name: "weather", input: { city: "Oslo" } },
    ],
    usage: { input_tokens: 3, output_tokens: 1 },
  };
  const parts = heardOf([
    { type: "message_start", message },
    { type: "message_start", message },
    finished("tool_use"),
  ]);
  expect(parts.filter(({ type }) => type !== "usage")).toEqual([
    { type: "text", choice: 0, text: "Hm." },
    { type: "tool_call", choice: 0, index: 0, id: "toolu_9", name: "weather" },
    { type: "tool_arguments", choice: 0, index: 0, text: '{"city":"Oslo"}' },
    { type: "finish", choice: 0, reason: "tool_calls" },
  ]);
});

test("blocks without end break the answer before they fill the memory", () => {
  const blocks = Array.from({ length: 300 }, (_, index) => began(index, { type: "text", text: "a" }));
  expect(() => heardOf([started(), ...blocks])).toThrow(Failure);
});

test("a call without a name breaks the answer", () => {
  expect(() => heardOf([started(), began(0, { type: "tool_use", id: "a", input: {} })])).toThrow(Failure);
});

test("an answer is whole after its finish, not after its last word", () => {
  const reader = new ClaudeReader();
  const parts: never[] = [];
  for (const event of [started(), ...text(0, "a")]) reader.event(JSON.stringify(event), parts);
  expect(reader.complete).toBe(false);
  expect(reader.event(JSON.stringify(STOPPED), parts)).toBe("done");
  expect(reader.complete).toBe(false);
  reader.event(JSON.stringify(finished("end_turn")), parts);
  expect([reader.complete, reader.id, reader.usageTold]).toEqual([true, "msg_1", true]);
});

const BODY = {
  id: "msg_2",
  type: "message",
  role: "assistant",
  content: [
    { type: "thinking", thinking: "Hm.", signature: "sig" },
    { type: "text", text: "Let me see." },
    { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
    { type: "tool_use", id: "toolu_2", name: "clock", input: {} },
  ],
  stop_reason: "tool_use",
  usage: { input_tokens: 10, output_tokens: 20 },
};

test("a whole body says what its stream would", () => {
  const { choices, usage, upstreamId } = answerOf(JSON.stringify(BODY), new ClaudeReader());
  expect(upstreamId).toBe("msg_2");
  expect(usage).toMatchObject({ promptTokens: 10, completionTokens: 20 });
  expect(choices).toEqual([
    {
      index: 0,
      content: "Let me see.",
      refusal: null,
      reasoning: "Hm.",
      toolCalls: [
        {
          id: "toolu_1",
          name: "weather",
          arguments: '{"city":"Oslo"}',
          extraContent: { anthropic: { thinking: [thinking("Hm.", "sig")] } },
        },
        { id: "toolu_2", name: "clock", arguments: "{}" },
      ],
      annotations: null,
      logprobs: null,
      finishReason: "tool_calls",
    },
  ]);
});

test.each([
  ["an error", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
  ["another shape", { id: "chatcmpl", choices: [{ index: 0, message: { content: "hi" } }] }],
  ["nothing", {}],
])("%s with status 200 is no answer, and proves nothing", (_, body) => {
  try {
    answerOf(JSON.stringify(body), new ClaudeReader());
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ reason: "broken", executed: "unknown" });
  }
});
