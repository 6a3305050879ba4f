// An upstream of this very shape that counts oddly, extends what never began, or sends a member twice: the result is one message
// whose blocks begin, grow and end in order, and no text that is paid for is missing.
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import { ClaudeReader } from "../../../providers/anthropic/reader.ts";
import { Failure } from "../../../providers/failure.ts";
import { NativeReader } from "../../../providers/native.ts";
import type { Part } from "../../../providers/provider.ts";
import { goneWrong, oddStep } from "../odd-events.fixtures.ts";
import { printMessage } from "./message-body.ts";
import { MessageEvents } from "./message-events.ts";

const HEAD = { requestId: `req_${"0".repeat(32)}`, created: 1, model: "m-1" };
const GATEWAY = `{"request_id":"${HEAD.requestId}"}`;
const USAGE = {
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
};

const MESSAGE = { id: "msg_1", content: [], usage: { input_tokens: 3, output_tokens: 1 } };
const block = (index: number, begins: object, deltas: object[]): object[] => [
  { type: "content_block_start", index, content_block: begins },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const THEIRS = [
  {
    type: "message_start",
    message: MESSAGE,
  },
  ...block(0, { type: "thinking", thinking: "", signature: "" }, [
    { type: "thinking_delta", thinking: "Thought." },
    { type: "signature_delta", signature: "c2ln" },
  ]),
  ...block(1, { type: "text", text: "" }, [
    { type: "text_delta", text: "One, " },
    { type: "text_delta", text: "two." },
  ]),
  ...block(2, { type: "tool_use", id: "toolu_1", name: "look", input: {} }, [
    { type: "input_json_delta", partial_json: '{"a":' },
    { type: "input_json_delta", partial_json: "1}" },
  ]),
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
].map((event) => JSON.stringify(event));
const PATHS = [
  ...["type", "index", "delta", "content_block", "message", "usage"].map((name) => [name]),
  ...["type", "text", "thinking"].map((name) => ["delta", name]),
  ...["type", "id"].map((name) => ["content_block", name]),
  ...["content", "usage"].map((name) => ["message", name]),
];

/** Null: an answer that is broken for every reader. */
function heardOf(theirs: readonly string[]): Part[] | null {
  const reader = new NativeReader(new ClaudeReader());
  const parts: Part[] = [];
  try {
    for (const one of theirs) if (reader.event(one, parts) !== null) break;
    return parts;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** What a client assembles; fails where a strict one would. */
function readBlocks(raw: string): void {
  const blocks: { open: boolean }[] = [];
  const told = raw.split("\n\n").slice(0, -1).map(readEvent);
  expect(told[0]?.["type"]).toBe("message_start");
  expect(told.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"]);
  for (const { type, index } of told) {
    if (typeof type !== "string" || !type.startsWith("content_block_")) continue;
    const at = blocks[Number(index)];
    if (type === "content_block_start") {
      expect(index).toBe(blocks.length);
      blocks.push({ open: true });
    } else expect([type, typeof index, at?.open]).toEqual([type, "number", true]);
    if (type === "content_block_stop" && at !== undefined) at.open = false;
  }
  expect(blocks.filter(({ open }) => open)).toEqual([]);
}

function readEvent(block: string): JsonObject {
  const [, name = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
  const event = JSON.parse(data) as JsonObject;
  expect(event["type"]).toBe(name);
  return event;
}

test("whatever its events count, name or tell twice, a strict client reads them, and every word that counts is shown", () => {
  fc.assert(
    fc.property(fc.array(oddStep(PATHS), { minLength: 1, maxLength: 3 }), (steps) => {
      const heard = heardOf(goneWrong(THEIRS, steps));
      if (heard === null) return;
      const stream = new MessageEvents(HEAD, false);
      let raw = stream.begin(GATEWAY);
      for (const part of heard) if (part.type !== "usage" && part.type !== "finish") raw += stream.part(part);
      raw += stream.end(0, "stop", { usage: USAGE, gateway: GATEWAY });
      readBlocks(raw);
      for (const part of heard)
        if (part.type === "text" || part.type === "reasoning")
          expect(raw).toContain(wireJson(part.text).slice(1, -1));
    }),
    { numRuns: 1000 },
  );
});

test("each call can be answered: it has an id that no other one has, streamed and whole alike", () => {
  const call = { type: "tool_use", name: "look", input: {} };
  const content = [
    call,
    { ...call, id: "toolu_1" },
    { ...call, id: "toolu_1" },
    { ...call, id: "" },
    { type: "text", text: "Hi" },
  ];
  const told = { ...MESSAGE, content } as JsonObject;
  const answer = { choices: [], usage: null, upstreamId: null, native: told };
  const whole = JSON.parse(printMessage(HEAD, answer, { usage: USAGE, gateway: GATEWAY })) as JsonObject;
  const theirs = [
    { type: "message_start", message: MESSAGE },
    ...content.flatMap((one, index) => block(index, one, [])),
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
  ];
  const stream = new MessageEvents(HEAD, false);
  let raw = stream.begin(GATEWAY);
  for (const part of heardOf(theirs.map((event) => JSON.stringify(event))) ?? [])
    if (part.type !== "usage" && part.type !== "finish") raw += stream.part(part);
  raw += stream.end(0, "stop", { usage: USAGE, gateway: GATEWAY });
  const begun = raw
    .split("\n\n")
    .slice(0, -1)
    .map(readEvent)
    .flatMap(({ content_block: one }) => (one === undefined ? [] : [one as JsonObject]));
  expect(begun).toEqual(whole["content"] as JsonObject[]);
  const ids = begun.slice(0, 4).map(({ id }) => id);
  expect(ids[1]).toBe("toolu_1");
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^toolu_\w+$/);
  expect(begun[4]).toEqual({ type: "text", text: "Hi" });
});
