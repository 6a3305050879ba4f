// The unmodified AI SDK with Anthropic's provider, on the Messages API. Anthropic's own SDK and Claude Code are in
// test/agents/.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, ON_EVERY_SHAPE, onProvider, PREVIEW_V1 } from "../support/models.ts";

/** A name that the provider knows: it says in this model's own way that it is not to think. */
const SONNET = "claude-sonnet-5-5";
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  const named = onProvider({ ...PREVIEW_V1, model: SONNET, upstream_model: SONNET }, "claude");
  gateway = await startGateway({ models: [...MODELS, ...ON_EVERY_SHAPE, named], configure: addFaces });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const MODEL = "base-preview-v1";
const provider = (apiKey = customer.secret): ReturnType<typeof createAnthropic> =>
  createAnthropic({ baseURL: gateway.baseUrl, apiKey });
const lastCall = () => gateway.simulator.bill().at(-1);

test("generateText returns text and the usage of the call", async () => {
  const result = await generateText({ model: provider()(MODEL), prompt: "Say hello" });
  expect(result.text).toMatch(/\w+/);
  expect(result.finishReason).toBe("stop");
  expect(result.usage.inputTokens).toBe(lastCall()?.prompt_tokens ?? -1);
  expect(result.usage.outputTokens).toBe(lastCall()?.completion_tokens ?? -1);
});

const SHAPES = ON_EVERY_SHAPE.map(({ model }) => model);

test.each(SHAPES)("%s: a tool loop runs over several steps, whole and streamed", async (model) => {
  for (const streamed of [false, true]) {
    const asked: string[] = [];
    const get_weather = tool({
      description: "The weather of a city",
      inputSchema: jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      }),
      execute: async ({ city }: { city: string }) => {
        asked.push(city);
        return "12 degrees";
      },
    });
    const options = {
      model: provider()(model),
      prompt: "Use get_weather",
      tools: { get_weather },
      stopWhen: stepCountIs(3),
    };
    const text = streamed ? await streamText(options).text : (await generateText(options)).text;
    expect(text).toMatch(/\w+/);
    expect(asked).toEqual(["text"]);
  }
});

test.each([SONNET, ...SHAPES])(
  "%s: thinking is switched off in the words of the newest models",
  async (model) => {
    const before = gateway.simulator.bill().length;
    const anthropic = { thinking: { type: "between_tools" as const } };
    const named = { model: provider()(model), prompt: "Say hello", maxOutputTokens: 200 };
    const result = await generateText({ ...named, providerOptions: { anthropic } });
    expect([result.text === "", result.reasoningText]).toEqual([false, undefined]);
    if (model === SONNET) await generateText({ ...named, reasoning: "none" });
    expect(
      gateway.simulator
        .bill()
        .slice(before)
        .map(({ outcome }) => outcome),
    ).toEqual(Array(model === SONNET ? 2 : 1).fill("finished"));
  },
);

test("a refusal for lack of money is an error with status and body, sent once", async () => {
  const poor = await gateway.customer({ usd: "0" });
  const before = gateway.simulator.bill().length;
  const error = await generateText({ model: provider(poor.secret)("plain-1"), prompt: "Hi" }).catch(
    (thrown: unknown) => thrown,
  );
  expect(APICallError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ statusCode: 402, isRetryable: false });
  expect(gateway.simulator.bill()).toHaveLength(before);
});
