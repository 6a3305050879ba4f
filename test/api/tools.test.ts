// The tool-call flow (specification 4): offered, called, answered by the client, continued.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city", "days"],
    },
  },
};
const ask = { role: "user", content: "Use get_weather for Copenhagen" };
const body = {
  model: "base-preview-v1",
  messages: [ask],
  tools: [weather],
  tool_choice: "auto",
  reasoning_effort: "none",
};

interface ToolCallJson {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}
interface ToolAnswer {
  choices: {
    message: { role: string; content: string | null; tool_calls?: ToolCallJson[] };
    finish_reason: string;
  }[];
}

test("the model calls a tool with content null, and the client's result continues the turn", async () => {
  const first = await gateway.chat<ToolAnswer>(customer, body);
  const [choice] = first.json.choices;
  expect(choice?.finish_reason).toBe("tool_calls");
  expect(choice?.message.content).toBeNull();
  const call = choice?.message.tool_calls?.[0];
  expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } });
  expect(JSON.parse(call?.function.arguments ?? "")).toEqual({ city: "text", days: 1 });
  const result = { role: "tool", tool_call_id: call?.id, content: "12 degrees" };
  const second = await gateway.chat<ToolAnswer>(customer, {
    ...body,
    messages: [ask, choice?.message, result],
  });
  expect(second.json.choices[0]).toMatchObject({
    finish_reason: "stop",
    message: { role: "assistant", content: expect.stringMatching(/\w/) },
  });
});

test("streamed, the first part of a call has id and name once, the rest only arguments", async () => {
  const { events } = await gateway.stream(customer, body);
  const parts = events.chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  expect(parts[0]).toEqual({
    index: 0,
    id: expect.stringMatching(/^call_/),
    type: "function",
    function: { name: "get_weather", arguments: "" },
  });
  for (const part of parts.slice(1))
    expect(part).toEqual({ index: 0, function: { arguments: expect.any(String) } });
  const text = parts.map((part) => part.function.arguments).join("");
  expect(JSON.parse(text)).toEqual({ city: "text", days: 1 });
  expect(events.chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test("tool_choice forbids, requires or names a tool", async () => {
  const plain = { ...body, messages: [{ role: "user", content: "hi" }] };
  const finish = async (tool_choice: unknown): Promise<string | undefined> =>
    (await gateway.chat<ToolAnswer>(customer, { ...plain, tool_choice })).json.choices[0]?.finish_reason;
  expect(await finish("none")).toBe("stop");
  expect(await finish("required")).toBe("tool_calls");
  expect(await finish({ type: "function", function: { name: "get_weather" } })).toBe("tool_calls");
});

test("a model without tools refuses them", async () => {
  const reply = await gateway.chat(customer, { ...body, model: "plain-1", reasoning_effort: undefined });
  expect(reply.status).toBe(400);
});

test("a schema may limit a number by the largest that exists", async () => {
  const numbers = { minimum: -1.7976931348623157e308, maximum: 3.4028234663852886e38 };
  const parameters = { type: "object", properties: { days: { type: "number", ...numbers } } };
  const tool = { type: "function", function: { name: "get_weather", parameters } };
  const called = await gateway.chat<ToolAnswer>(customer, { ...body, tools: [tool] });
  expect([called.status, called.json.choices[0]?.finish_reason]).toEqual([200, "tool_calls"]);
  const answered = await gateway.chat<ToolAnswer>(customer, {
    model: "base-preview-v1",
    messages: [ask],
    response_format: { type: "json_schema", json_schema: { name: "numbers", schema: parameters } },
  });
  expect(answered.status).toBe(200);
});

test("json_schema answers conform to the schema", async () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const reply = await gateway.chat<ToolAnswer>(customer, {
    model: "base-preview-v1",
    messages: [{ role: "user", content: "Where?" }],
    response_format: { type: "json_schema", json_schema: { name: "place", schema, strict: true } },
  });
  expect(JSON.parse(reply.json.choices[0]?.message.content ?? "")).toEqual({ city: "text" });
});

test("several tools at once are several calls, streamed or whole; one if parallel calls are switched off", async () => {
  const time = { type: "function", function: { name: "get_time" } };
  const both = {
    ...body,
    messages: [{ role: "user", content: "Use get_weather and get_time" }],
    tools: [weather, time],
  };
  const names = ["get_weather", "get_time"];
  const called = async (request: object): Promise<(string | undefined)[]> =>
    (await gateway.chat<ToolAnswer>(customer, request)).json.choices[0]?.message.tool_calls?.map(
      (call) => `${call.function.name} ${call.function.arguments}`,
    ) ?? [];
  expect(await called(both)).toEqual(['get_weather {"city":"text","days":1}', "get_time {}"]);
  expect(await called({ ...both, parallel_tool_calls: false })).toHaveLength(1);
  const { events } = await gateway.stream(customer, both);
  const begun = events.chunks.flatMap(({ choices }) =>
    (choices[0]?.delta.tool_calls ?? []).flatMap((call) =>
      call.function.name === undefined ? [] : [[call.index, call.function.name]],
    ),
  );
  expect(begun).toEqual(names.map((name, index) => [index, name]));
});
