// What breaks clients (wire.md §3.2, §7): upstreams that do it are repaired by the gateway, and the unmodified SDK
// behind it does not notice. Each case is a raw upstream stream.
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { readEvents } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 } from "../support/models.ts";

let raw = "";
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(raw, { headers: { "content-type": "text/event-stream" } }),
});
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    providers: { odd: `http://127.0.0.1:${upstream.port}/v1` },
    models: [{ ...PREVIEW_V1, model: "odd-1", provider: "odd" }],
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});

const chunk = (delta: object, also: object = {}): string =>
  `data: ${JSON.stringify({ id: "up-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null, ...also }] })}\n\n`;
const call = (fields: object): string => chunk({ tool_calls: [fields] });
const finish = (reason = "stop"): string => chunk({}, { finish_reason: reason });
const usage = `data: ${JSON.stringify({ id: "up-1", choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } })}\n\n`;
const done = "data: [DONE]\n\n";
const tool = {
  type: "function" as const,
  function: { name: "f", parameters: { type: "object", properties: {} } },
};

async function final(stream: string): Promise<OpenAI.ChatCompletion> {
  raw = stream;
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hi" }];
  return client.chat.completions.stream({ model: "odd-1", messages, tools: [tool] }).finalChatCompletion();
}

const toolCalls = (completion: OpenAI.ChatCompletion): unknown =>
  completion.choices[0]?.message.tool_calls?.map((made) =>
    made.type === "function" ? [made.function.name, made.function.arguments] : null,
  );

test("no role in any delta: the gateway adds it", async () => {
  const completion = await final(chunk({ content: "Hello" }) + finish() + usage + done);
  expect(completion.choices[0]?.message).toMatchObject({ role: "assistant", content: "Hello" });
});

test("tool indexes from 1, as from some translated block numbers", async () => {
  const completion = await final(
    call({ index: 1, id: "a", type: "function", function: { name: "f", arguments: "" } }) +
      call({ index: 1, function: { arguments: '{"x":1}' } }) +
      finish("tool_calls") +
      done,
  );
  expect(toolCalls(completion)).toEqual([["f", '{"x":1}']]);
});

test("tool deltas without an index, distinguished by their ids", async () => {
  const completion = await final(
    call({ id: "a", function: { name: "f", arguments: '{"x":1}' } }) +
      call({ id: "b", function: { name: "f", arguments: '{"x":2}' } }) +
      finish("tool_calls") +
      done,
  );
  expect(toolCalls(completion)).toEqual([
    ["f", '{"x":1}'],
    ["f", '{"x":2}'],
  ]);
});

test("id, type and name repeated on every delta are sent once", async () => {
  const part = (text: string): string =>
    call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: text } });
  const completion = await final(part('{"x"') + part(":1}") + finish("tool_calls") + done);
  expect(toolCalls(completion)).toEqual([["f", '{"x":1}']]);
});

test("a whole call in the finish chunk", async () => {
  const completion = await final(
    chunk(
      { tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
      { finish_reason: "tool_calls" },
    ) + done,
  );
  expect(completion.choices[0]?.finish_reason).toBe("tool_calls");
  expect(toolCalls(completion)).toEqual([["f", "{}"]]);
});

test("named events, pings without data, comments and CRLF", async () => {
  const stream = `event: ping\n\n: comment\n\nevent: message\n${chunk({ content: "Hello" })}${finish()}${usage}${done}`;
  const completion = await final(stream.replaceAll("\n", "\r\n"));
  expect(completion.choices[0]?.message.content).toBe("Hello");
});

test("a first chunk without choices, ids that change, text in the finish chunk, usage before the end", async () => {
  const odd = `data: ${JSON.stringify({ id: "", choices: [], prompt_filter_results: [] })}\n\n`;
  const other = chunk({ content: "Hel" }).replace("up-1", "up-2");
  const completion = await final(
    odd + other + usage + chunk({ content: "lo" }, { finish_reason: "stop" }) + done,
  );
  expect(completion.choices[0]?.message.content).toBe("Hello");
  expect(completion.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 });
});

test("no finish reason is an error, never a quiet end", async () => {
  const failed = await final(chunk({ content: "Hello" }) + done).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "provider_error" });
});

test("what reaches the client has no event names, a choice in every event, one id, and line separators escaped", async () => {
  raw = chunk({ content: "a\u2028b\u0085c" }) + finish() + usage + done;
  const reply = await gateway.stream(customer, {
    model: "odd-1",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(reply.text).not.toContain("event:");
  expect(reply.text).not.toMatch(/[\u0085\u2028\u2029]/);
  const { chunks } = readEvents(reply.text);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.every(({ choices }) => choices.length === 1)).toBe(true);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("a\u2028b\u0085c");
});

test("answers are never compressed, and JSON has the JSON media type", async () => {
  raw = chunk({ content: "Hello" }) + finish() + usage + done;
  const reply = await fetch(`${gateway.baseUrl}/models`, {
    headers: { authorization: `Bearer ${customer.secret}`, "accept-encoding": "br, gzip" },
  });
  expect(reply.headers.get("content-encoding")).toBeNull();
  expect(reply.headers.get("content-type")).toBe("application/json");
});
