import { expect, test } from "bun:test";
import { nanoUsd } from "../../domain/money.ts";
import type { CacheMark, ChatRequest } from "../../domain/chat-request.ts";
import { outgoing } from "../openai/outgoing-body.fixtures.ts";
import {
  asks,
  release,
  result,
  sentBody,
  signed,
  THOUGHT,
  toolCall,
  tools,
  use,
} from "./request-body.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const FIVE: CacheMark = { type: "ephemeral" };
const HOUR: CacheMark = { type: "ephemeral", ttl: "1h" };
const said = (text: string, cache_control?: CacheMark) => ({
  type: "text" as const,
  text,
  ...(cache_control && { cache_control }),
});
const request: Partial<ChatRequest> = {
  tools: [{ type: "function", function: { name: "clock" }, cache_control: HOUR }],
  messages: [
    { role: "system", content: [said("Be brief.", HOUR)] },
    { role: "user", content: [said("a", FIVE), said("b")] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "x", type: "function", function: { name: "clock", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "x", content: [said("noon", FIVE)] },
    { role: "user", content: [said("c", FIVE)] },
  ],
};
const write = nanoUsd(1250n);

/** Returns the marks in the body, by the text or name that they mark. */
function marks(price: object): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  JSON.stringify(
    sentBody(request, { release: { ...release, price: { ...release.price, ...price } } }),
    (_, value: unknown) => {
      if (typeof value === "object" && value !== null && "cache_control" in value)
        found[String("text" in value ? value.text : "name" in value ? value.name : "")] = value.cache_control;
      return value;
    },
  );
  return found;
}

test("marks go where writing has a price, for an hour where that has one, and the last four of them", () => {
  expect(marks({})).toEqual({});
  expect(marks({ cacheWrite: write })).toEqual({ "Be brief.": FIVE, a: FIVE, noon: FIVE, c: FIVE });
  expect(marks({ cacheWrite: write, cacheWrite1h: write })).toEqual({
    "Be brief.": HOUR,
    a: FIVE,
    noon: FIVE,
    c: FIVE,
  });
});

test("a text that led to a call keeps its mark, at its end where thoughts stood in it", () => {
  const spoken = (extra_content?: Record<string, unknown>): unknown => {
    const calls = [toolCall("x", extra_content)];
    const { messages } = sentBody(
      {
        messages: [
          asks("a"),
          { role: "assistant", content: [said("one two", FIVE)], tool_calls: calls },
          result("x"),
        ],
        tools,
      },
      { release: { ...release, price: { ...release.price, cacheWrite: write } }, reasoningEffort: "low" },
    ) as { messages: { content: unknown[] }[] };
    return messages[1]?.content;
  };
  expect(spoken()).toEqual([said("one two", FIVE), use("x")]);
  expect(spoken(signed("sig", "4"))).toEqual([said("one "), THOUGHT, said("two", FIVE), use("x")]);
});

test("the chat-completions shape never sees one", () => {
  const body = outgoing(request);
  expect(printedText(body, 64)).not.toContain("cache_control");
  expect(printedText(body, 64)).toContain('{"type":"text","text":"a"}');
});
