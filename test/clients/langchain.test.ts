// LangChain's unmodified OpenAI chat model (wire.md §7).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const chat = (fields: { model?: string; apiKey?: string; maxRetries?: number } = {}): ChatOpenAI =>
  new ChatOpenAI({
    model: "base-preview-v1",
    apiKey: customer.secret,
    maxRetries: 1,
    ...fields,
    configuration: { baseURL: gateway.baseUrl },
  });

test("invoke answers, with usage", async () => {
  const answer = await chat().invoke([new SystemMessage("Be brief"), new HumanMessage("Say hello")]);
  expect(answer.content).toMatch(/\w+/);
  const call = gateway.simulator.bill().at(-1);
  expect(answer.usage_metadata?.output_tokens).toBe(call?.completion_tokens ?? -1);
});

test("a stream adds up to the answer, with usage counted once", async () => {
  let text = "";
  let total = 0;
  for await (const chunk of await chat().stream("Say hello")) {
    text += chunk.text;
    total += chunk.usage_metadata?.total_tokens ?? 0;
  }
  expect(text).toMatch(/\w+/);
  const call = gateway.simulator.bill().at(-1);
  expect(total).toBe((call?.prompt_tokens ?? 0) + (call?.completion_tokens ?? 0));
});

test("bound tools are called, and their results continue the turn", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const model = chat().bindTools([{ type: "function", function: { name: "get_weather", parameters } }]);
  const ask = new HumanMessage("Use get_weather");
  const first = await model.invoke([ask]);
  expect(first.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "text" } }]);
  const result = new ToolMessage({ content: "12 degrees", tool_call_id: first.tool_calls?.[0]?.id ?? "" });
  expect((await model.invoke([ask, first, result])).content).toMatch(/\w+/);
});

test("streamed tool calls are assembled", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const model = chat().bindTools([{ type: "function", function: { name: "get_weather", parameters } }]);
  let args = "";
  for await (const chunk of await model.stream("Use get_weather"))
    args += chunk.tool_call_chunks?.map((part) => part.args ?? "").join("") ?? "";
  expect(JSON.parse(args)).toEqual({ city: "text" });
});

test.each([
  ["a wrong key", 401],
  ["no credits", 402],
  ["an unknown model", 404],
])("%s fails with its status, sent once", async (what, status) => {
  const poor = await gateway.customer({ usd: "0" });
  const model = {
    "a wrong key": chat({ apiKey: "gw_sk_wrong" }),
    "no credits": chat({ apiKey: poor.secret, model: "plain-1" }),
    "an unknown model": chat({ model: "nope" }),
  }[what];
  const before = gateway.simulator.bill().length;
  const error = (await model?.invoke("Hi").catch((thrown: unknown) => thrown)) as { status?: number };
  expect(error.status).toBe(status);
  expect(gateway.simulator.bill()).toHaveLength(before);
});

test("an Idempotency-Key can be passed in the call's options, and the second call is free", async () => {
  const options = { options: { headers: { "Idempotency-Key": crypto.randomUUID() } } };
  const first = await chat().invoke("Hi", options);
  const before = gateway.simulator.bill().length;
  const second = await chat().invoke("Hi", options);
  expect(second.content).toBe(first.content);
  expect(gateway.simulator.bill()).toHaveLength(before);
});
