// The unmodified AI SDK with its OpenAI-compatible provider (wire.md §7).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, RetryError, stepCountIs, streamText, tool } from "ai";
import { samplePdf } from "../../src/lib/pdf.fixtures.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { READER } from "../support/models.ts";

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

const provider = (apiKey = customer.secret): ReturnType<typeof createOpenAICompatible> =>
  createOpenAICompatible({ name: "tollgate", baseURL: gateway.baseUrl, apiKey, includeUsage: true });

test("generateText returns text, reasoning and usage", async () => {
  const result = await generateText({ model: provider()("base-preview-v1"), prompt: "Say hello" });
  expect(result.text).toMatch(/\w+/);
  expect(result.reasoningText).toMatch(/\w+/);
  expect(result.finishReason).toBe("stop");
  const call = gateway.simulator.bill().at(-1);
  expect(result.usage.inputTokens).toBe(call?.prompt_tokens ?? -1);
  expect(result.usage.outputTokens).toBe(call?.completion_tokens ?? -1);
});

test("streamText streams text and reasoning, and has the usage at the end", async () => {
  const result = streamText({ model: provider()("base-preview-v1"), prompt: "Say hello" });
  let text = "";
  for await (const delta of result.textStream) text += delta;
  expect(text).toMatch(/\w+/);
  expect(await result.reasoningText).toMatch(/\w+/);
  expect((await result.usage).outputTokens).toBe(gateway.simulator.bill().at(-1)?.completion_tokens ?? -1);
  expect(await result.finishReason).toBe("stop");
});

test("a PDF is sent as the SDK writes it, and counted by its pages", async () => {
  expect((await gateway.publish(READER)).status).toBeLessThan(300);
  const result = await generateText({
    model: provider()("reader-1"),
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What does it say?" },
          { type: "file", data: samplePdf({ pages: 4, packed: true }), mediaType: "application/pdf" },
        ],
      },
    ],
  });
  expect(result.text).toMatch(/\w+/);
  const call = gateway.simulator.bill().at(-1);
  expect(call?.prompt_tokens).toBeGreaterThan(4 * 258);
  expect(result.usage.inputTokens).toBe(call?.prompt_tokens ?? -1);
});

const weather = (asked: string[]) =>
  tool({
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

test("a tool loop runs over several steps, whole and streamed", async () => {
  for (const streamed of [false, true]) {
    const asked: string[] = [];
    const options = {
      model: provider()("base-preview-v1"),
      prompt: "Use get_weather",
      tools: { get_weather: weather(asked) },
      stopWhen: stepCountIs(3),
    };
    const text = streamed ? await streamText(options).text : (await generateText(options)).text;
    expect(text).toMatch(/\w+/);
    expect(asked).toEqual(["text"]);
  }
});

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

test("an error after 200 becomes an error part", async () => {
  gateway.simulator.behave({ behaviour: { error_after_events: 5, completion_tokens: 40 }, calls: 1 });
  const errors: unknown[] = [];
  const result = streamText({
    model: provider()("plain-1"),
    prompt: "Hi",
    onError: ({ error }) => void errors.push(error),
  });
  await result.consumeStream();
  expect(errors.length).toBeGreaterThan(0);
});

test("with an Idempotency-Key the SDK's own retries never dispatch twice", async () => {
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  const before = gateway.simulator.bill().length;
  const error = await generateText({
    model: provider()("plain-1"),
    prompt: "Hi",
    maxRetries: 2,
    headers: { "Idempotency-Key": crypto.randomUUID() },
  }).catch((thrown: unknown) => thrown);
  expect(RetryError.isInstance(error)).toBe(true);
  expect(gateway.simulator.bill().length - before).toBe(1);
}, 120_000);
