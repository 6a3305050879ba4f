// The unmodified official OpenAI SDK, current major and 6.x: only base URL and key are set (specification 1, 5.3;
// wire.md §7).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI7 from "openai";
import OpenAI6 from "openai-6";
import type { GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { reads } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = { ...provider.health, openAfterFailures: 1000 };
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const hello = { model: "base-preview-v1", messages: [{ role: "user" as const, content: "Say hello" }] };
const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const calls = (): number => gateway.simulator.bill().length;

describe.each([
  ["openai 7", OpenAI7 as unknown as typeof OpenAI7],
  ["openai 6", OpenAI6 as unknown as typeof OpenAI7],
])("%s", (_, OpenAI) => {
  const client = (options: { maxRetries?: number; key?: string } = {}): OpenAI7 =>
    new OpenAI({
      baseURL: gateway.baseUrl,
      apiKey: options.key ?? customer.secret,
      maxRetries: options.maxRetries ?? 2,
    });

  test("a completion, with the receipt beside it and the request id", async () => {
    const { data, response } = await client().chat.completions.create(hello).withResponse();
    expect(data.choices[0]?.message.content).toMatch(/\w+/);
    const { gateway: receipt } = data as unknown as { gateway: GatewayJson };
    expect(receipt.request_id).toBe(response.headers.get("x-request-id") ?? "");
    expect((data as { _request_id?: string })._request_id).toBe(receipt.request_id);
    expect((await gateway.request(receipt.request_id)).state).toBe("settled");
  });

  test("a stream by iteration, with usage if requested", async () => {
    const stream = await client().chat.completions.create({
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    });
    let [text, reasoning, usage] = ["", "", 0];
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
      text += delta?.content ?? "";
      reasoning += delta?.reasoning_content ?? "";
      usage += chunk.usage?.total_tokens ?? 0;
    }
    expect(text).toMatch(/\w+/);
    expect(reasoning).toMatch(/\w+/);
    const call = gateway.simulator.bill().at(-1);
    expect(usage).toBe((call?.prompt_tokens ?? 0) + (call?.completion_tokens ?? 0));
  });

  test("the stream helper assembles the final completion", async () => {
    const stream = client().chat.completions.stream(hello);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toMatch(/\w+/);
    expect(final.choices[0]?.finish_reason).toBe("stop");
    expect((final as unknown as { gateway: GatewayJson }).gateway.cost.currency).toBe("USD");
  });

  test("the stream helper assembles tool calls", async () => {
    const stream = client().chat.completions.stream({
      ...hello,
      messages: [{ role: "user", content: "Use get_weather" }],
      tools: [weather],
    });
    const final = await stream.finalChatCompletion();
    const call = final.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"text"}' },
    });
  });

  test("runTools runs the tool and finishes the turn", async () => {
    const asked: string[] = [];
    const runner = client().chat.completions.runTools({
      ...hello,
      messages: [{ role: "user", content: "Use get_weather" }],
      tools: [
        {
          type: "function",
          function: {
            ...weather.function,
            description: "The weather of a city",
            function: (input: { city: string }) => {
              asked.push(input.city);
              return "12 degrees";
            },
            parse: (text: string): { city: string } => JSON.parse(text) as { city: string },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toMatch(/\w+/);
    expect(asked).toEqual(["text"]);
  });

  test("parse helpers read structured output", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const completion = await client().chat.completions.parse({
      ...hello,
      response_format: { type: "json_schema", json_schema: { name: "place", strict: true, schema } },
    });
    expect(JSON.parse(completion.choices[0]?.message.content ?? "")).toEqual({ city: "text" });
  });

  test("developer messages, content parts and fields without effect are accepted", async () => {
    const completion = await client().chat.completions.create({
      model: "base-preview-v1",
      messages: [
        { role: "developer", content: "Be brief" },
        { role: "user", content: [{ type: "text", text: "Say hello" }] },
      ],
      store: false,
      metadata: { team: "a" },
      user: "u1",
      max_completion_tokens: 30,
    });
    expect(completion.usage?.completion_tokens).toBeLessThanOrEqual(30);
  });

  test("the models are listed and one is retrieved", async () => {
    const ids: string[] = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toContain("base-preview-v1");
    expect((await client().models.retrieve("plain-1")).id).toBe("plain-1");
  });

  test.each([
    ["an unknown key", "AuthenticationError", 401, "invalid_api_key"],
    ["an unknown model", "NotFoundError", 404, "model_not_found"],
    ["a bad field", "BadRequestError", 400, "unsupported_value"],
    ["no credits", "APIError", 402, "insufficient_credits"],
    ["another scope", "PermissionDeniedError", 403, "scope_not_permitted"],
  ])(
    "%s is an error of its class with code and request id, and is sent once",
    async (what, name, status, code) => {
      const poor = await gateway.customer({ usd: "0" });
      const asks: Record<string, () => Promise<unknown>> = {
        "an unknown key": () => client({ key: "gw_sk_wrong" }).chat.completions.create(hello),
        "an unknown model": () => client().chat.completions.create({ ...hello, model: "nope" }),
        "a bad field": () =>
          client().chat.completions.create({ ...hello, reasoning_effort: "extreme" as never }),
        "no credits": () =>
          client({ key: poor.secret }).chat.completions.create({ ...hello, model: "plain-1" }),
        "another scope": () => client().chat.completions.create({ ...hello, model: "base-research-1" }),
      };
      const before = calls();
      const error = (await asks[what]?.().catch((thrown: unknown) => thrown)) as InstanceType<
        typeof OpenAI7.APIError
      >;
      expect(error.constructor.name).toBe(name);
      expect({ status: error.status, code: error.code }).toEqual({ status, code });
      expect(error.requestID).toMatch(/^req_/);
      expect(calls()).toBe(before);
    },
  );

  test("the client does not repeat a provider's failure that proves nothing", async () => {
    gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
    const before = calls();
    const error = (await client()
      .chat.completions.create(hello)
      .catch((thrown: unknown) => thrown)) as { status: number };
    expect(error.status).toBe(502);
    expect(calls() - before).toBe(1);
  });

  test("the client repeats a failure with proof, and succeeds", async () => {
    gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
    const before = calls();
    const completion = await client().chat.completions.create(hello);
    expect(completion.choices).toHaveLength(1);
    expect(calls() - before).toBe(2);
  });

  test("an Idempotency-Key in the call's headers makes a second call free", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const first = await client().chat.completions.create(hello, { headers });
    const before = calls();
    const second = await client().chat.completions.create(hello, { headers });
    expect(second).toEqual(first);
    expect(calls()).toBe(before);
  });

  test("an error after 200 is raised, without a second call", async () => {
    gateway.simulator.behave({ behaviour: { error_after_events: 6, completion_tokens: 50 }, calls: 1 });
    const before = calls();
    const stream = await client().chat.completions.create({ ...hello, model: "plain-1", stream: true });
    let text = "";
    const failed = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    })();
    const error = (await failed.catch((thrown: unknown) => thrown)) as { code: string };
    expect(error.code).toBe("provider_error");
    expect(text).toMatch(/\w+/);
    expect(calls() - before).toBe(1);
  });

  test("an abort in mid-stream stops the provider and is charged for what came", async () => {
    gateway.simulator.behave({ behaviour: { tokens_per_second: 300, completion_tokens: 3000 }, calls: 1 });
    const stream = await client().chat.completions.create({
      ...hello,
      model: "plain-1",
      max_tokens: 4000,
      stream: true,
    });
    let chunks = 0;
    for await (const _chunk of stream) if (++chunks === 10) break;
    const id = gateway.simulator.bill().at(-1)?.request_id ?? "";
    let record = await gateway.request(id);
    while (record.state === "running") {
      await Bun.sleep(5);
      record = await gateway.request(id);
    }
    expect(record.evidence).toBe("delivered_tokens");
    const call = () => gateway.simulator.bill().find(({ request_id }) => request_id === id);
    await reads(async () => call()?.outcome, "cut"); // the provider hears of it after the ledger
  });
});
