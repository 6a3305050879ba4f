// Unmodified clients whose default is the Responses API: OpenAI's SDK and LangChain. Agents and further libraries on
// every upstream shape are in test/agents/.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import OpenAI from "openai";
import type {
  ResponseFunctionToolCall,
  ResponseInput,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import type { GatewayJson } from "../support/events.ts";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, ON_EVERY_SHAPE } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [...MODELS, ...ON_EVERY_SHAPE], configure: addFaces });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const client = (apiKey = customer.secret): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey });
const MODEL = "base-preview-v1";
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function" as const, name: "get_weather", parameters, strict: true };
const isCall = (item: ResponseOutputItem): item is ResponseFunctionToolCall => item.type === "function_call";
/** Added by the stream helper; the vendor refuses it. */
const withoutParsed = (item: object): object => ({ ...item, parsed_arguments: undefined });
const lastCall = () => gateway.simulator.bill().at(-1);

test("openai: a response, with its usage, the receipt beside it and the request id", async () => {
  const response = await client().responses.create({ model: MODEL, input: "Say hello" });
  expect(response.output_text).toMatch(/\w+/);
  expect(response.status).toBe("completed");
  expect(response.usage).toMatchObject({
    input_tokens: lastCall()?.prompt_tokens ?? -1,
    output_tokens: lastCall()?.completion_tokens ?? -1,
  });
  const { gateway: receipt } = response as unknown as { gateway: GatewayJson };
  expect(receipt.request_id).toBe(response._request_id ?? "");
  expect((await gateway.request(receipt.request_id)).state).toBe("settled");
});

test("openai: the stream helper's deltas add up to the final response, which has the receipt", async () => {
  let deltas = "";
  let next = 0;
  const stream = client().responses.stream({ model: MODEL, input: "Say hello" });
  stream.on("response.output_text.delta", ({ delta }) => (deltas += delta));
  stream.on("event", ({ sequence_number: number }) => expect(number).toBe(next++));
  const final = await stream.finalResponse();
  expect(deltas).toMatch(/\w+/);
  expect(final.output_text).toBe(deltas);
  expect(final.usage?.output_tokens).toBe(lastCall()?.completion_tokens ?? -1);
  expect((final as unknown as { gateway: GatewayJson }).gateway.cost.currency).toBe("USD");
});

test("openai: a tool call, its result, and the answer, whole and streamed", async () => {
  for (const streamed of [false, true]) {
    const input: ResponseInput = [{ role: "user", content: "Use get_weather" }];
    const ask = () => {
      const body = { model: MODEL, input, tools: [weather] };
      return streamed ? client().responses.stream(body).finalResponse() : client().responses.create(body);
    };
    const first = await ask();
    const call = (first.output as ResponseOutputItem[]).find(isCall);
    expect(JSON.parse(call?.arguments ?? "")).toEqual({ city: "text" });
    input.push(...(first.output.map(withoutParsed) as ResponseInput));
    input.push({ type: "function_call_output", call_id: call?.call_id ?? "", output: "12 degrees" });
    expect((await ask()).output_text).toMatch(/\w+/);
  }
});

test("openai: an answer by schema is parsed", async () => {
  const response = await client().responses.parse({
    model: MODEL,
    input: "Where?",
    text: { format: { type: "json_schema", name: "place", strict: true, schema: parameters } },
  });
  expect(response.output_parsed).toEqual({ city: "text" });
});

test.each([
  ["an unknown key", 401, "invalid_api_key"],
  ["no credits", 402, "insufficient_credits"],
  ["an unknown model", 404, "model_not_found"],
  ["a response to continue from", 400, "unsupported_parameter"],
])("openai: %s is an error with its code, sent once", async (what, status, code) => {
  const poor = await gateway.customer({ usd: "0" });
  const hello = { model: MODEL, input: "Hi" };
  const asks: Record<string, () => Promise<unknown>> = {
    "an unknown key": () => client("gw_sk_wrong").responses.create(hello),
    "no credits": () => client(poor.secret).responses.create({ ...hello, model: "plain-1" }),
    "an unknown model": () => client().responses.create({ ...hello, model: "nope" }),
    "a response to continue from": () =>
      client().responses.create({ ...hello, previous_response_id: "resp_1" }),
  };
  const before = gateway.simulator.bill().length;
  const error = (await asks[what]?.().catch((thrown: unknown) => thrown)) as InstanceType<
    typeof OpenAI.APIError
  >;
  expect({ status: error.status, code: error.code }).toEqual({ status, code });
  expect(error.requestID).toMatch(/^req_/);
  expect(gateway.simulator.bill()).toHaveLength(before);
});

const langchain = (model: string): ChatOpenAI =>
  new ChatOpenAI({
    model,
    apiKey: customer.secret,
    maxRetries: 0,
    useResponsesApi: true,
    configuration: { baseURL: gateway.baseUrl },
  });

const SHAPES = ON_EVERY_SHAPE.map(({ model }) => model);

test.each(SHAPES)(
  "LangChain in its Responses mode on %s: a turn with a tool, whole and streamed, usage counted once",
  async (name) => {
    const model = langchain(name).bindTools([
      { type: "function", function: { name: "get_weather", parameters } },
    ]);
    const ask = new HumanMessage("Use get_weather");
    const first = await model.invoke([ask]);
    expect(first.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "text" } }]);
    const result = new ToolMessage({ content: "12 degrees", tool_call_id: first.tool_calls?.[0]?.id ?? "" });
    expect((await model.invoke([ask, first, result])).text).toMatch(/\w+/);
    let [text, total] = ["", 0];
    for await (const chunk of await model.stream([ask, first, result])) {
      text += chunk.text;
      total += chunk.usage_metadata?.total_tokens ?? 0;
    }
    expect(text).toMatch(/\w+/);
    expect(total).toBe((lastCall()?.prompt_tokens ?? 0) + (lastCall()?.completion_tokens ?? 0));
  },
);
