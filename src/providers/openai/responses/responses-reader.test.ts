// The content of a Responses answer is read once, whichever way it is sent.
import { expect, test } from "bun:test";
import { Failure } from "../../failure.ts";
import { answerOf } from "../../http/answer.ts";
import type { EventEnd } from "../../codec.ts";
import type { Part } from "../../provider.ts";
import { ResponsesReader } from "./responses-reader.ts";

const message = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] };
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{"a":1}' };
const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "call_2", name: "patch", input: "***" };
const refused = { type: "message", id: "msg_2", content: [{ type: "refusal", refusal: "No." }] };
const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
const response = (output: unknown[], also: object = {}) => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  output,
  usage,
  ...also,
});

const said = (type: "text" | "refusal" | "reasoning", text: string): Part => ({ type, choice: 0, text });
const begun = (index: number, id: string, name: string): Part => ({
  type: "tool_call",
  choice: 0,
  index,
  id,
  name,
});
const argued = (index: number, text: string): Part => ({ type: "tool_arguments", choice: 0, index, text });
const finish = (reason: "stop" | "length" | "tool_calls" | "content_filter"): Part => ({
  type: "finish",
  choice: 0,
  reason,
});

function readAll(events: object[]): { parts: Part[]; ends: EventEnd[]; reader: ResponsesReader } {
  const reader = new ResponsesReader("issuer");
  const parts: Part[] = [];
  const ends = events.map((event) => reader.event(JSON.stringify(event), parts));
  if (reader.complete) reader.close(parts);
  return { parts: parts.filter(({ type }) => type !== "usage"), ends, reader };
}

const ITEMS = [thought, message("Hello"), call, custom, refused];
const PARTS = [
  said("reasoning", "Hm."),
  said("text", "Hello"),
  begun(0, "call_1", "look"),
  argued(0, '{"a":1}'),
  begun(1, "call_2", "patch"),
  argued(1, "***"),
  said("refusal", "No."),
  finish("tool_calls"),
];

test("deltas are the answer, and what closes them is not told again", () => {
  const { parts, ends, reader } = readAll([
    { type: "response.created", response: response([], { status: "in_progress", usage: null }) },
    { type: "response.output_item.added", output_index: 0, item: { ...thought, summary: [] } },
    { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "Hm." },
    { type: "response.output_item.done", output_index: 0, item: thought },
    { type: "response.output_item.added", output_index: 1, item: message("") },
    { type: "response.output_text.delta", output_index: 1, delta: "Hel" },
    { type: "response.output_text.delta", output_index: 1, delta: "lo" },
    { type: "response.output_text.done", output_index: 1, text: "Hello" },
    { type: "response.output_item.done", output_index: 1, item: message("Hello") },
    { type: "response.output_item.added", output_index: 2, item: { ...call, arguments: "" } },
    { type: "response.output_item.added", output_index: 3, item: { ...custom, input: "" } },
    { type: "response.custom_tool_call_input.delta", output_index: 3, delta: "***" },
    { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"a":1}' },
    { type: "response.output_item.done", output_index: 2, item: call },
    { type: "response.output_item.done", output_index: 3, item: custom },
    { type: "response.refusal.delta", output_index: 4, delta: "No." },
    { type: "response.completed", response: response(ITEMS) },
  ]);
  expect(parts).toEqual([
    said("reasoning", "Hm."),
    said("text", "Hel"),
    said("text", "lo"),
    begun(0, "call_1", "look"),
    begun(1, "call_2", "patch"),
    argued(1, "***"),
    argued(0, '{"a":1}'),
    said("refusal", "No."),
    finish("tool_calls"),
  ]);
  expect(ends.at(-1)).toBe("done");
  expect([reader.id, reader.complete, reader.usageTold]).toEqual(["resp_1", true, true]);
});

test("who tells items only when they are whole, or all at the end, or in one body, has said the same", () => {
  const whole = ITEMS.map((item, output_index) => ({
    type: "response.output_item.done",
    output_index,
    item,
  }));
  const last = { type: "response.completed", response: response(ITEMS) };
  expect(readAll([...whole, last]).parts).toEqual(PARTS);
  expect(readAll([last]).parts).toEqual(PARTS);
  const reader = new ResponsesReader("issuer");
  const { choices, upstreamId } = answerOf(JSON.stringify(response(ITEMS)), reader);
  expect([choices[0]?.content, choices[0]?.reasoning, choices[0]?.refusal, upstreamId]).toEqual([
    "Hello",
    "Hm.",
    "No.",
    "resp_1",
  ]);
  expect(choices[0]?.toolCalls.map(({ arguments: text }) => text)).toEqual(['{"a":1}', "***"]);
});

test("an incomplete answer says why", () => {
  const cut = (reason?: string) =>
    readAll([
      {
        type: "response.incomplete",
        response: response([message("a")], { status: "incomplete", incomplete_details: { reason } }),
      },
    ]).parts.at(-1);
  expect(cut("max_output_tokens")).toEqual(finish("length"));
  expect(cut("content_filter")).toEqual(finish("content_filter"));
  expect(cut()).toEqual(finish("length"));
});

test("an error is one, wherever it stands", () => {
  const told = { code: "rate_limit_exceeded", message: "Slow down" };
  for (const event of [
    { type: "error", ...told, param: null, sequence_number: 3 },
    { type: "error", error: told },
    { error: told },
    { type: "response.failed", response: response([], { status: "failed", error: told }) },
  ])
    expect(readAll([event]).ends[0]).toMatchObject({ message: "Slow down" });
  for (const body of [
    { error: told },
    response([], { status: "failed", error: told }),
    response([], { status: "cancelled" }),
  ])
    expect(() => answerOf(JSON.stringify(body), new ResponsesReader("issuer"))).toThrow(Failure);
  for (const body of [response([], { status: "in_progress" }), response([], { status: "queued" }), {}])
    expect(() => answerOf(JSON.stringify(body), new ResponsesReader("issuer"))).toThrow("lacks a choice");
});

test("odd words are survived: no type, no place, arguments of a call that never began", () => {
  const { parts, ends } = readAll([
    { hello: 1 },
    { type: "response.output_text.delta", delta: 7 },
    { type: "response.output_text.delta", delta: "a" },
    { type: "response.function_call_arguments.delta", output_index: 5, delta: "{}" },
    { type: "response.output_item.added", output_index: 5, item: call },
    { type: "response.audio.delta", delta: "AAAA" },
    { type: "response.completed" },
  ]);
  expect(parts).toEqual([said("text", "a"), begun(0, "", ""), argued(0, "{}"), finish("tool_calls")]);
  expect(ends.slice(0, -1)).toEqual(ends.slice(0, -1).map(() => null));
  const reader = new ResponsesReader("issuer");
  expect([reader.event("", []), reader.event("[DONE]", [])]).toEqual([null, "done"]);
  expect(() => reader.event("{", [])).toThrow(Failure);
});

test("an event that comes twice is heard once; who does not count may say the same word twice", () => {
  const word = { type: "response.output_text.delta", output_index: 0, delta: "ha" };
  const counted = [0, 1, 1, 2].map((sequence_number) => ({ ...word, sequence_number }));
  expect(readAll(counted).parts).toEqual([said("text", "ha"), said("text", "ha"), said("text", "ha")]);
  expect(readAll([word, word]).parts).toEqual([said("text", "ha"), said("text", "ha")]);
});

test("an id is kept as far as records hold it", () => {
  const { reader } = readAll([
    { type: "response.completed", response: response([], { id: "r".repeat(999) }) },
  ]);
  expect(reader.id).toBe("r".repeat(200));
});

test("what it sealed leaves with its issuer's mark, nothing else is touched", () => {
  const reader = new ResponsesReader("issuer");
  const text = `{"type":"x","delta":"\\"encrypted_content\\":\\"a\\"","item":{"encrypted_content" : "gAAA","b":{"encrypted_content":null,"c":{"encrypted_content":""}}}}`;
  expect(reader.passOn(text)).toBe(
    text.replace('"encrypted_content" : "gAAA"', '"encrypted_content" : "tollgate.sealed.issuer.gAAA"'),
  );
});

test("a whole body goes on as it was read: with the issuer's mark, a number that no double holds as it came", () => {
  const reader = new ResponsesReader("issuer");
  const text = `{"id":"resp_1","status":"completed","output":[{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}],"later":12345678901234567890}`;
  answerOf(text, reader);
  expect(JSON.stringify(reader.told())).toBe(text.replace("gAAA", "tollgate.sealed.issuer.gAAA"));
});
