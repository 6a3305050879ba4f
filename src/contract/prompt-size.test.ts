import { expect, test } from "bun:test";
import fc from "fast-check";
import { bodyOf, bodyWith, call, tool, user } from "./chat-request.fixtures.ts";
import { parseChatRequest } from "./parse-chat-request.ts";

const sizeOf = (body: unknown) => parseChatRequest(body).promptSize;
const bytesOf = (body: unknown): number => sizeOf(body).bytes;

test("text counts in UTF-8 bytes, wherever it stands", () => {
  for (const [message, bytes] of [
    [user(""), 0],
    [user("abc"), 3],
    [user("é€😀"), 2 + 3 + 4],
    [
      user([
        { type: "text", text: "é" },
        { type: "text", text: "b" },
      ]),
      3,
    ],
    [{ ...user("abc"), name: "josé" }, 3 + 5],
    [{ role: "assistant", content: "a", refusal: "bb", reasoning_content: "ccc", name: "dddd" }, 10],
    [{ role: "assistant", content: [{ type: "refusal", refusal: "nö" }] }, 3],
    [user("<|endoftext|>"), 13],
  ] as const)
    expect([message, bytesOf(bodyOf(message))]).toEqual([message, bytes]);
});

test("tool calls count by name, arguments and provider state; answers by their text", () => {
  const extra = { google: { thought_signature: "é" } };
  const body = bodyOf(
    user("abc"),
    { role: "assistant", content: null, tool_calls: [{ ...call("id"), extra_content: extra }] },
    { role: "tool", content: "sunny", tool_call_id: "id" },
  );
  const expected =
    3 + "weather".length + "{}".length + Buffer.byteLength(JSON.stringify(extra)) + "sunny".length;
  expect(sizeOf(body)).toEqual({ bytes: expected, messages: 3, tools: 0, images: 0 });
});

test("tools and the response schema count as the JSON text that is sent", () => {
  const tools = [tool("a"), tool("b")];
  expect(sizeOf(bodyWith({ tools }))).toEqual({
    bytes: 5 + Buffer.byteLength(JSON.stringify(tools)),
    messages: 1,
    tools: 2,
    images: 0,
  });
  const format = { name: "a", schema: { type: "object", description: "\n€" }, strict: true };
  const body = bodyWith({ response_format: { type: "json_schema", json_schema: format } });
  expect(bytesOf(body)).toBe(5 + Buffer.byteLength(JSON.stringify(format)));
});

test("an image counts as one image, however long its address", () => {
  const part = { type: "image_url", image_url: { url: `data:image/png;base64,${"a".repeat(100_000)}` } };
  expect(sizeOf(bodyOf(user([part, { type: "text", text: "xy" }, part])))).toEqual({
    bytes: 2,
    messages: 1,
    tools: 0,
    images: 2,
  });
});

test("100,000 tiny messages are all counted, so their overhead meets the window", () => {
  expect(sizeOf(bodyWith({ messages: Array.from({ length: 100_000 }, () => user("a")) }))).toEqual({
    bytes: 100_000,
    messages: 100_000,
    tools: 0,
    images: 0,
  });
});

test("no text that is forwarded is left out of the bytes", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(
    fc.property(text, text, text, (content, name, thought) => {
      const spoken = { role: "assistant", content, name, reasoning_content: thought };
      const expected = [content, name, thought].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
      expect(bytesOf(bodyOf(spoken))).toBe(expected);
    }),
  );
});
