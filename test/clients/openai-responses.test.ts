// The unmodified official OpenAI SDK on POST /v1/responses: whole and streamed, a tool loop each, on routes of every
// shape, and a conversation that changes its route half-way.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import type { Config } from "../../src/config/config.ts";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import { startSimulator } from "../../src/providers/simulator/server.ts";
import type { GatewayJson } from "../support/events.ts";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1 } from "../support/models.ts";

const route = (model: string, provider: string, upstream_model: string) =>
  onProvider({ ...PREVIEW_V1, model, upstream_model, requires_paid: false }, provider);

/** A model for each upstream shape. */
const MODELS = {
  native: route("native", "simulator", "sim-base-1"),
  other: route("other", "other", "sim-base-1"),
  chat: route("chat", "chat-only", "sim-base-1"),
  claude: route("claude", "claude", "claude-opus-4-5"),
  gemini: route("gemini", "gemini", "gemini-3.8-flash"),
};
const NAMES = Object.keys(MODELS) as (keyof typeof MODELS)[];

let gateway: TestGateway;
let customer: Customer;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({ models: Object.values(MODELS), configure: withEveryShape });
  customer = await gateway.customer({ usd: "100" });
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/** Further providers on the simulator. */
function withEveryShape(config: Config): void {
  const chat = { dialect: { ...DIALECTS.openai, responses: false } };
  const [simulator] = config.providers;
  if (simulator === undefined) throw new Error("no simulator");
  addFaces(config);
  config.providers.push({ ...simulator, name: "other" }, { ...simulator, name: "chat-only", own: chat });
}

const weather = {
  type: "function" as const,
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};
type ResponseStreamParams = Parameters<OpenAI["responses"]["stream"]>[0];

const ASKED = {
  tools: [weather],
  reasoning: { effort: "low" as const, summary: "auto" as const },
  include: ["reasoning.encrypted_content" as const],
};

/** Removes what the stream helper adds to items, because the vendor refuses it. */
function unparsed(item: object): ResponseInputItem {
  const { parsed_arguments: _none, ...rest } = item as Record<string, unknown>;
  const content = rest["content"];
  if (!Array.isArray(content)) return rest as unknown as ResponseInputItem;
  const parts = (content as Record<string, unknown>[]).map(({ parsed: _null, ...part }) => part);
  return { ...rest, content: parts } as unknown as ResponseInputItem;
}

/** The next input of a conversation: the output, and the tools' results. */
function after(output: readonly object[]): ResponseInputItem[] {
  const results = output.flatMap((item) =>
    "call_id" in item
      ? [{ type: "function_call_output" as const, call_id: String(item.call_id), output: "Rain." }]
      : [],
  );
  return [...output.map(unparsed), ...results];
}

const receiptOf = (response: object): GatewayJson => (response as { gateway: GatewayJson }).gateway;

describe.each(NAMES)("%s", (model) => {
  test("a whole answer, and a tool loop", async () => {
    const input: ResponseInputItem[] = [{ role: "user", content: "Use get_weather" }];
    const first = await client.responses.create({ ...ASKED, model, input });
    const call = first.output.find(({ type }) => type === "function_call");
    expect(call).toMatchObject({ name: "get_weather", arguments: '{"city":"text"}' });
    const second = await client.responses.create({
      ...ASKED,
      model,
      input: [...input, ...after(first.output)],
    });
    expect(second.output_text).toMatch(/\w+/);
    const { request_id: id, cost } = receiptOf(second);
    const { charge, state } = await gateway.request(id);
    expect([state, cost.customer_charge_usd]).toEqual(["settled", Number(charge) / 1e9]);
    expect(second.usage?.input_tokens).toBe(cost.input_tokens);
  });

  test("the same with the stream helper, which assembles it by itself", async () => {
    const turn = async (input: ResponseInputItem[]) => {
      const params = { ...ASKED, model, input } as unknown as ResponseStreamParams;
      const stream = client.responses.stream(params);
      let text = "";
      stream.on("response.output_text.delta", ({ delta }) => {
        text += delta;
      });
      const response = await stream.finalResponse();
      expect(response.output_text).toBe(text);
      return response;
    };
    const input: ResponseInputItem[] = [{ role: "user", content: "Use get_weather" }];
    const first = await turn(input);
    expect(first.output.map(({ type }) => type)).toContain("function_call");
    const second = await turn([...input, ...after(first.output)]);
    expect(second.output_text).toMatch(/\w+/);
    expect(second.status).toBe("completed");
  });
});

test("a conversation that changes its route at each turn never gets stuck, and no provider sees another's encrypted content", async () => {
  let input: ResponseInputItem[] = [{ role: "user", content: "Use get_weather" }];
  for (const model of [...NAMES, ...NAMES.toReversed(), "native", "claude", "native"]) {
    const called = await client.responses.create({ ...ASKED, model, input });
    expect([model, called.output.some(({ type }) => type === "function_call")]).toEqual([model, true]);
    input = [...input, ...after(called.output)];
    const answered = await client.responses.create({ ...ASKED, model, input });
    expect([model, answered.status]).toEqual([model, "completed"]);
    input = [...input, ...after(answered.output), { role: "user", content: "Again, use get_weather" }];
  }
});

test("the vendor's client accepts the simulator's own Responses API", async () => {
  const simulator = await startSimulator({ port: 0 });
  try {
    const direct = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: "none", maxRetries: 0 });
    const asked = { model: "sim-base-1", store: false, input: "Use get_weather", ...ASKED };
    const whole = await direct.responses.create(asked);
    const streamed = await direct.responses.stream(asked as unknown as ResponseStreamParams).finalResponse();
    for (const { output, status } of [whole, streamed])
      expect([status, ...output.map(({ type }) => type)]).toEqual([
        "completed",
        "reasoning",
        "function_call",
      ]);
  } finally {
    await simulator.stop();
  }
});
