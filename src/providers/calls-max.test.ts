// More tool calls in one answer than any model makes: the answer is broken in every shape, and rejected before the
// calls are kept.
import { expect, test } from "bun:test";
import type { AnswerReader } from "./codec.ts";
import { ClaudeReader } from "./anthropic/reader.ts";
import { ConverseReader } from "./bedrock/answer-reader.ts";
import { CALLS_MAX } from "./calls-max.ts";
import { Failure } from "./failure.ts";
import { GeminiReader } from "./google/answer-reader.ts";
import { ChunkReader } from "./openai/parts-of-chunk.ts";
import { ResponsesReader } from "./openai/responses/responses-reader.ts";
import type { Part } from "./provider.ts";

const chunks = () => new ChunkReader({ choices: 1, logprobs: false, family: "x" });
const delta = (call: object): string =>
  JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
const bedrock = (index: number) => ({
  kind: "event",
  type: "contentBlockStart",
  payload: JSON.stringify({
    contentBlockIndex: index,
    start: { toolUse: { toolUseId: `t${index}`, name: "f" } },
  }),
});
const gemini = (): string =>
  JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: { name: "f", args: {} } }] } }] });
const responses = (at: number): string =>
  JSON.stringify({
    type: "response.output_item.added",
    output_index: at,
    item: { type: "function_call", call_id: `c${at}`, name: "f" },
  });
const claude = (at: number): string[] => [
  JSON.stringify({
    type: "content_block_start",
    index: at,
    content_block: { type: "tool_use", id: `c${at}`, name: "f" },
  }),
  JSON.stringify({ type: "content_block_stop", index: at }),
];

const SHAPES: [string, () => AnswerReader<never>, (at: number) => unknown[]][] = [
  ["chunks", chunks, (at) => [delta({ index: at, id: `c${at}`, function: { name: "f" } })]],
  ["chunks whose calls have no names", chunks, (at) => [delta({ id: `c${at}` })]],
  ["messages", () => new ClaudeReader(), claude],
  ["Converse", () => new ConverseReader("x"), (at) => [bedrock(at)]],
  ["Gemini", () => new GeminiReader({ choices: 1, topLogprobs: null, issuer: () => "x" }), () => [gemini()]],
  ["Responses", () => new ResponsesReader("x"), (at) => [responses(at)]],
];

test.each(SHAPES)("of %s", (_, open, eventsOf) => {
  const reader = open();
  const parts: Part[] = [];
  const call = (at: number): void => {
    for (const event of eventsOf(at)) reader.event(event as never, parts);
  };
  for (let at = 0; at < CALLS_MAX; at += 1) call(at);
  expect(() => call(CALLS_MAX)).toThrow(Failure);
  expect(parts.filter(({ type }) => type === "tool_call").length).toBeLessThanOrEqual(CALLS_MAX);
});
