// The official OpenAI SDK, unmodified, beyond one completion, on routes of every shape: helpers that parse, run
// tools, pass streams on, give up and retry.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { ChatCompletionStream } from "openai/lib/ChatCompletionStream";
import { z } from "zod";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, PLAIN, VECTORS } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [...ON_EVERY_SHAPE, PLAIN, VECTORS], configure: addFaces });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const client = (options: { maxRetries?: number; timeout?: number } = {}): OpenAI =>
  new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret, maxRetries: 0, ...options });
const messages = [{ role: "user" as const, content: "Say hello" }];
const asks = [{ role: "user" as const, content: "Use get_weather" }];
const calls = (): number => gateway.simulator.bill().length;

/** As its types allow it: every nullable field is null. */
const Place = z.object({ city: z.string(), people: z.number().nullable() });
const City = z.object({ city: z.string() });

describe.each(ON_EVERY_SHAPE.map(({ model }) => model))("%s", (model) => {
  test("chat: answers and calls are parsed by zod, whole and streamed", async () => {
    const asked = { model, messages, response_format: zodResponseFormat(Place, "place") };
    const whole = await client().chat.completions.parse(asked);
    const streamed = await client().chat.completions.stream(asked).finalChatCompletion();
    for (const { choices } of [whole, streamed])
      expect(choices[0]?.message.parsed).toEqual({ city: "text", people: 1 });
    const tools = [zodFunction({ name: "get_weather", parameters: City })];
    const called = await client().chat.completions.parse({ model, messages: asks, tools });
    expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { parsed_arguments: { city: "text" } },
    });
  });

  test("responses: the same", async () => {
    const asked = { model, input: "Say hello", text: { format: zodTextFormat(Place, "place") } };
    const whole = await client().responses.parse(asked);
    const streamed = await client().responses.stream(asked).finalResponse();
    for (const { output_parsed } of [whole, streamed])
      expect(output_parsed).toEqual({ city: "text", people: 1 });
    const tools = [zodResponsesFunction({ name: "get_weather", parameters: City })];
    const { output } = await client().responses.parse({ model, input: "Use get_weather", tools });
    expect(output.find(({ type }) => type === "function_call")).toMatchObject({
      parsed_arguments: { city: "text" },
    });
  });

  test("a prompt of responses is counted for free, and never below what is billed for it", async () => {
    const asked = {
      model,
      input: [{ role: "user" as const, content: "How many tokens is this?" }],
      instructions: "Be brief.",
    };
    const [before, held] = [calls(), await gateway.balance(customer)];
    const counted = await client().responses.inputTokens.count(asked);
    expect(counted.object).toBe("response.input_tokens");
    expect([calls(), await gateway.balance(customer)]).toEqual([before, held]);
    const { usage } = await client().responses.create(asked);
    expect(counted.input_tokens).toBeGreaterThanOrEqual(usage?.input_tokens ?? Number.POSITIVE_INFINITY);
    expect(counted.input_tokens).toBeLessThan(300);
  });

  test("runTools streams, adds usage up, and continues when a tool's arguments cannot be parsed", async () => {
    const get_weather = zodFunction({ name: "get_weather", parameters: City, function: () => "Rain" });
    const before = calls();
    const runner = client().chat.completions.runTools({
      model,
      stream: true,
      messages: asks,
      tools: [get_weather],
    });
    expect(await runner.finalContent()).toMatch(/\w+/);
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    const bill = gateway.simulator.bill().slice(before);
    expect((await runner.totalUsage()).completion_tokens).toBe(
      bill.reduce((sum, { completion_tokens: tokens }) => sum + tokens, 0),
    );
    const { parameters } = get_weather.function;
    const unread = {
      type: "function" as const,
      function: {
        name: "get_weather",
        description: "The weather of a city",
        parameters: parameters ?? {},
        parse: (): string => {
          throw new Error("These are no arguments.");
        },
        function: () => "Rain",
      },
    };
    const told = client().chat.completions.runTools({ model, messages: asks, tools: [unread] });
    expect(await told.finalContent()).toMatch(/\w+/);
    expect(told.messages.map(({ role }) => role)).toContain("tool");
  });

  test("a stream is split, passed on and read raw", async () => {
    const [left, right] = (await client().chat.completions.create({ model, messages, stream: true })).tee();
    const counts = [0, 0];
    for await (const _chunk of left) counts[0] = (counts[0] ?? 0) + 1;
    for await (const _chunk of right) counts[1] = (counts[1] ?? 0) + 1;
    expect(counts[0]).toBeGreaterThan(2);
    expect(counts[1]).toBe(counts[0] ?? -1);
    const readable = client().chat.completions.stream({ model, messages }).toReadableStream();
    expect(await ChatCompletionStream.fromReadableStream(readable).finalContent()).toMatch(/\w+/);
    const raw = await client().chat.completions.create({ model, messages, stream: true }).asResponse();
    expect(raw.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await raw.text()).toEndWith("data: [DONE]\n\n");
  });
});

test("vectors are decoded from base64, which the client requests by itself", async () => {
  const { data } = await client().embeddings.create({ model: VECTORS.model, input: ["one", "two"] });
  const plain = await client().embeddings.create({
    model: VECTORS.model,
    input: ["one", "two"],
    encoding_format: "float",
  });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([16, 16]);
  for (const [at, { embedding }] of data.entries())
    for (const [place, value] of embedding.entries())
      expect(value).toBeCloseTo(plain.data[at]?.embedding[place] ?? Number.NaN, 6);
});

test("a client that times out retries as often as configured, and each attempt is settled", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 2, completion_tokens: 40 }, calls: 2 });
  const before = calls();
  const asked = client({ timeout: 1_500, maxRetries: 1 }).chat.completions.create({
    model: PLAIN.model,
    messages,
  });
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
  expect(calls() - before).toBe(2);
});

test("an aborted helper reports it, on chat and on responses", async () => {
  for (const begin of [
    () => client().chat.completions.stream({ model: PLAIN.model, messages }),
    () => client().responses.stream({ model: PLAIN.model, input: "Say hello" }),
  ]) {
    gateway.simulator.behave({ behaviour: { tokens_per_second: 100, completion_tokens: 400 }, calls: 1 });
    const stream = begin();
    setTimeout(() => stream.abort(), 300);
    const error = await stream.done().catch((thrown: unknown) => thrown);
    expect([error, stream.aborted]).toEqual([expect.any(OpenAI.APIUserAbortError), true]);
  }
});
