// A native answer is passed on as it came, and yields the same parts as any other: nothing before its first word.
import { expect, test } from "bun:test";
import { ClaudeReader } from "./anthropic/reader.ts";
import type { JsonObject } from "../domain/read-value.ts";
import { Failure } from "./failure.ts";
import { NativeReader } from "./native.ts";
import type { Part } from "./provider.ts";

const START = `{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3,"output_tokens":1}}}`;
const BLOCK = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`;
const WORD = `{"index":0,"delta":{"text":"Hi","new":{"b":1,"a":2},"type":"text_delta"},"type":"content_block_delta"}`;
const LAST = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`;
const STOP = `{"type":"message_stop"}`;

const read = (reader: NativeReader, data: string): Part[] => {
  const parts: Part[] = [];
  reader.event(data, parts);
  return parts;
};
const told = (event: string, data: string): Part => ({
  type: "native",
  choice: 0,
  event,
  data,
  told: JSON.parse(data) as JsonObject,
});

test("events wait for the first that says something; then each stands before what it says, its text untouched", () => {
  const reader = new NativeReader(new ClaudeReader());
  expect(read(reader, START).map(({ type }) => type)).toEqual(["usage"]);
  expect(read(reader, BLOCK)).toEqual([]);
  expect(read(reader, WORD)).toEqual([
    told("message_start", START),
    told("content_block_start", BLOCK),
    told("content_block_delta", WORD),
    { type: "text", choice: 0, text: "Hi" },
  ]);
  expect(read(reader, `{"type":"ping"}`)).toEqual([told("ping", `{"type":"ping"}`)]);
  expect(read(reader, LAST).map(({ type }) => type)).toEqual(["native", "usage"]);
  expect([reader.id, reader.complete, reader.usageTold]).toEqual(["msg_1", true, true]);
  expect(read(reader, STOP)).toEqual([told("message_stop", STOP)]);
});

test("an answer without a word has its events before its finish", () => {
  const reader = new NativeReader(new ClaudeReader());
  const parts = [...read(reader, START), ...read(reader, LAST)];
  reader.close(parts);
  expect(parts.filter(({ type }) => type !== "usage")).toEqual([
    told("message_start", START),
    told("message_delta", LAST),
    { type: "finish", choice: 0, reason: "stop" },
  ]);
});

test("an event on several lines goes on as one; an error inside a stream does not go on at all", () => {
  const reader = new NativeReader(new ClaudeReader());
  const lines = WORD.replace(`,"type":"content`, `,\n"type":"content`);
  expect(read(reader, lines)[0]).toEqual(told("content_block_delta", WORD));
  expect(read(reader, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`)).toEqual([]);
});

test("an event on several lines keeps its numbers as they were written, also those that no double holds", () => {
  const reader = new NativeReader(new ClaudeReader());
  const call = `{"type":"tool_use","id":"a","name":"f","input":{"id":175928847299117063,"x":1e400}}`;
  const event = `{"type":"content_block_start","index":0,"content_block":${call}}`;
  expect(read(reader, event.replace(",", ",\n"))[0]).toMatchObject({ type: "native", data: event });
});

test("an upstream that tells much and says nothing is cut", () => {
  const reader = new NativeReader(new ClaudeReader());
  const ping = `{"type":"ping","filler":"${"x".repeat(1024 * 1024)}"}`;
  for (let n = 0; n < 3; n += 1) expect(read(reader, ping)).toEqual([]);
  expect(() => read(reader, ping)).toThrow(Failure);
});
