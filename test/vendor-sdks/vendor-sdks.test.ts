// The vendors' own SDKs, pointed at the simulator: they read an answer, a stream, a round of tools and an error there
// as they would at the vendor, so that a codec that passes on the simulator has been tested against something real.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { installedPackages } from "../support/installed-packages.ts";
import type { AnthropicClient, BedrockSdk, GoogleClient } from "./sdks.ts";

let simulator: Simulator;
let packages: string;
const sdk = async <T>(name: string): Promise<T> => (await import(Bun.resolveSync(name, packages))) as T;

beforeAll(async () => {
  packages = await installedPackages(import.meta.dir);
  simulator = await startSimulator({ port: 0 });
}, 300_000);
afterEach(() => simulator.behaveWell());
afterAll(() => simulator.stop());

/** Tokens of the prompt and of the answer of the last call, as the vendor would invoice them. */
const invoiced = (): [number, number] => {
  const { prompt_tokens: prompt, completion_tokens: completion } = simulator.bill().at(-1) ?? {
    prompt_tokens: 0,
    completion_tokens: 0,
  };
  return [prompt, completion];
};

interface Refused {
  name: string;
  status?: number;
  message: string;
  $metadata?: { httpStatusCode?: number };
}
/** What the SDK throws. */
async function thrown(action: () => Promise<unknown>): Promise<Refused> {
  try {
    await action();
  } catch (error) {
    return error as Refused;
  }
  throw new Error("nothing was thrown");
}

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const ASKED = "Ask weather, then clock.";

describe("@anthropic-ai/sdk", () => {
  let client: AnthropicClient;
  beforeAll(async () => {
    const { default: Anthropic } = await sdk<{ default: new (o: object) => AnthropicClient }>(
      "@anthropic-ai/sdk",
    );
    client = new Anthropic({ apiKey: "k", baseURL: `${simulator.url}/anthropic`, maxRetries: 0 });
  });
  const hi = { model: "claude-opus-4-8", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
  const tools = ["weather", "clock"].map((name) => ({ name, input_schema: parameters }));

  test("an answer, its text and its usage, with cache writes", async () => {
    const system = [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }];
    const { content, stop_reason, usage } = await client.messages.create({ ...hi, system });
    expect([content.map(({ type }) => type), stop_reason]).toEqual([["text"], "end_turn"]);
    const written = usage.cache_creation_input_tokens ?? 0;
    expect(written).toBeGreaterThan(0);
    expect([usage.input_tokens + written, usage.output_tokens]).toEqual(invoiced());
  });

  test("a stream through its helper: text as it comes, signed thinking, two calls, and their round", async () => {
    const asked = { ...hi, max_tokens: 4096, tools, thinking: { type: "adaptive", display: "summarized" } };
    const messages: unknown[] = [{ role: "user", content: ASKED }];
    const stream = client.messages.stream({ ...asked, messages });
    let thought = "";
    stream.on("thinking", (words) => (thought += words));
    const { content, stop_reason, usage } = await stream.finalMessage();
    expect(stop_reason).toBe("tool_use");
    expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use", "tool_use"]);
    expect([content[0]?.thinking, content[0]?.signature?.length]).toEqual([thought, 44]);
    expect([usage.input_tokens, usage.output_tokens]).toEqual(invoiced());
    const calls = content.filter(({ type }) => type === "tool_use");
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["weather", { city: "text" }],
      ["clock", { city: "text" }],
    ]);
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "rain" }));
    messages.push({ role: "assistant", content }, { role: "user", content: results });
    const second = client.messages.stream({ ...asked, messages });
    let words = "";
    second.on("text", (text) => (words += text));
    const last = await second.finalMessage();
    expect(last.stop_reason).toBe("end_turn");
    expect(last.content.find(({ type }) => type === "text")?.text).toBe(words);
  });

  test("refusals are the SDK's own classes; a stream that fails or is cut is no answer", async () => {
    const create = (change: object) => thrown(() => client.messages.create({ ...hi, ...change }));
    expect(await create({ messages: [{ role: "assistant", content: "Hi" }] })).toMatchObject({ status: 400 });
    for (const [status, type] of [
      [401, "authentication_error"],
      [429, "rate_limit_error"],
      [529, "overloaded_error"],
    ] as const) {
      simulator.behave({ behaviour: { status }, calls: 1 });
      const refused = await create({});
      expect(refused.status).toBe(status);
      expect(refused.message).toContain(type);
    }
    for (const behaviour of [{ error_after_events: 4 }, { reset_after_events: 4 }]) {
      simulator.behave({ behaviour, calls: 1 });
      await thrown(() => client.messages.stream(hi).finalMessage());
    }
  });
});

describe("@google/genai", () => {
  let client: GoogleClient;
  beforeAll(async () => {
    const { GoogleGenAI } = await sdk<{ GoogleGenAI: new (o: object) => GoogleClient }>("@google/genai");
    client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: `${simulator.url}/google` } });
  });
  const hi = { model: "gemini-3.8-flash", contents: "Hi" };

  test("an answer, its text, log probabilities and usage", async () => {
    const answer = await client.models.generateContent({
      ...hi,
      config: { systemInstruction: "Be brief.", maxOutputTokens: 200, responseLogprobs: true, logprobs: 2 },
    });
    const [candidate] = answer.candidates ?? [];
    expect([candidate?.finishReason, answer.text?.length]).toEqual(["STOP", expect.any(Number)]);
    const { chosenCandidates = [], topCandidates = [] } = candidate?.logprobsResult ?? {};
    expect(chosenCandidates.map(({ token }) => token).join("")).toBe(answer.text ?? "");
    expect(topCandidates.map(({ candidates }) => candidates?.length)).toEqual(chosenCandidates.map(() => 2));
    const { promptTokenCount, candidatesTokenCount } = answer.usageMetadata ?? {};
    expect([promptTokenCount ?? 0, candidatesTokenCount ?? 0]).toEqual(invoiced());
  });

  test("a chat that streams, with two calls and their results: its own history sends signatures back", async () => {
    const declared = ["weather", "clock"].map((name) => ({ name, parametersJsonSchema: parameters }));
    const config = { tools: [{ functionDeclarations: declared }], thinkingConfig: { includeThoughts: true } };
    const chat = client.chats.create({ model: hi.model, config });
    const calls: { name?: string; args?: object }[] = [];
    let signed = 0;
    for await (const chunk of await chat.sendMessageStream({ message: ASKED })) {
      calls.push(...(chunk.functionCalls ?? []));
      for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
        if (part.functionCall !== undefined && part.thoughtSignature !== undefined) signed += 1;
    }
    expect([calls.map(({ name, args }) => [name, args]), signed]).toEqual([
      [
        ["weather", { city: "text" }],
        ["clock", { city: "text" }],
      ],
      1,
    ]);
    const answers = calls.map(({ name }) => ({ functionResponse: { name, response: { output: "rain" } } }));
    const told = await chat.sendMessage({ message: answers });
    expect(told.text).toMatch(/\w/);
    const {
      promptTokenCount = 0,
      candidatesTokenCount = 0,
      thoughtsTokenCount = 0,
    } = told.usageMetadata ?? {};
    expect([promptTokenCount, candidatesTokenCount + thoughtsTokenCount]).toEqual(invoiced());
  });

  test("refusals have the vendor's status and message; a stream that is cut is no answer", async () => {
    const ask = (config: object) => thrown(() => client.models.generateContent({ ...hi, config }));
    const refused = await ask({ thinkingConfig: { thinkingBudget: 5 } });
    expect([refused.name, refused.status]).toEqual(["ApiError", 400]);
    expect(refused.message).toContain("INVALID_ARGUMENT");
    for (const [status, word] of [
      [429, "RESOURCE_EXHAUSTED"],
      [503, "UNAVAILABLE"],
    ] as const) {
      simulator.behave({ behaviour: { status }, calls: 1 });
      const limited = await ask({});
      expect([limited.status, limited.message]).toEqual([status, expect.stringContaining(word)]);
    }
    simulator.behave({ behaviour: { reset_after_events: 2 }, calls: 1 });
    await thrown(async () => {
      for await (const _ of await client.models.generateContentStream(hi));
    });
  });
});

describe("@aws-sdk/client-bedrock-runtime", () => {
  let aws: BedrockSdk;
  let client: InstanceType<BedrockSdk["BedrockRuntimeClient"]>;
  beforeAll(async () => {
    aws = await sdk<BedrockSdk>("@aws-sdk/client-bedrock-runtime");
    const { NodeHttpHandler } = await sdk<{ NodeHttpHandler: new () => object }>("@smithy/node-http-handler");
    client = new aws.BedrockRuntimeClient({
      region: "us-east-1",
      endpoint: `${simulator.url}/bedrock`,
      credentials: { accessKeyId: "AKIDEXAMPLE12345678", secretAccessKey: "s", sessionToken: "t" },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    });
  });
  afterAll(() => client.destroy());
  const modelId = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  const user = (...content: object[]): object => ({ role: "user", content });
  const hi = { modelId, messages: [user({ text: "Hi" })] };

  test("a signed call: its text and its usage, with cache writes", async () => {
    const point = { cachePoint: { type: "default", ttl: "1h" } };
    const system = [{ text: "Be brief." }, point];
    const { output, stopReason, usage = {} } = await client.send(new aws.ConverseCommand({ ...hi, system }));
    expect([output?.message?.content?.length, stopReason]).toEqual([1, "end_turn"]);
    expect(usage.cacheDetails).toEqual([{ ttl: "1h", inputTokens: usage.cacheWriteInputTokens ?? 0 }]);
    const { inputTokens = 0, cacheWriteInputTokens = 0, outputTokens = 0 } = usage;
    expect([inputTokens + cacheWriteInputTokens, outputTokens]).toEqual(invoiced());
  });

  test("a binary stream: signed reasoning, two calls, and their round", async () => {
    const tools = ["weather", "clock"].map((name) => ({
      toolSpec: { name, inputSchema: { json: parameters } },
    }));
    const asked = {
      modelId,
      toolConfig: { tools },
      inferenceConfig: { maxTokens: 4096 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1024 } },
    };
    const messages = [user({ text: ASKED })];
    const { stream } = await client.send(new aws.ConverseStreamCommand({ ...asked, messages }));
    const content: Record<string, unknown>[] = [];
    const inputs: string[] = [];
    const reasoning = { text: "", signature: "" };
    let told: unknown;
    for await (const { contentBlockStart: start, contentBlockDelta: more, messageStop, metadata } of stream ??
      []) {
      const { delta, contentBlockIndex: at = start?.contentBlockIndex ?? 0 } = more ?? {};
      if (start?.start?.toolUse !== undefined) content[at] = { toolUse: start.start.toolUse };
      reasoning.text += delta?.reasoningContent?.text ?? "";
      reasoning.signature += delta?.reasoningContent?.signature ?? "";
      if (delta?.toolUse !== undefined) inputs[at] = (inputs[at] ?? "") + (delta.toolUse.input ?? "");
      if (messageStop !== undefined) expect(messageStop.stopReason).toBe("tool_use");
      if (metadata !== undefined) told = [metadata.usage?.inputTokens, metadata.usage?.outputTokens];
    }
    expect(told).toEqual(invoiced());
    content[0] = { reasoningContent: { reasoningText: reasoning } };
    expect(inputs.slice(1).map((text) => JSON.parse(text) as unknown)).toEqual([
      { city: "text" },
      { city: "text" },
    ]);
    const calls = content.slice(1).map(({ toolUse }) => toolUse as { toolUseId: string });
    const said = [
      content[0],
      ...calls.map((toolUse) => ({ toolUse: { ...toolUse, input: { city: "text" } } })),
    ];
    const results = calls.map(({ toolUseId }) => ({
      toolResult: { toolUseId, content: [{ text: "rain" }] },
    }));
    const answered = await client.send(
      new aws.ConverseCommand({
        ...asked,
        messages: [...messages, { role: "assistant", content: said }, user(...results)],
      }),
    );
    expect(answered.stopReason).toBe("end_turn");
  });

  test("refusals and exceptions in a stream are the SDK's own classes", async () => {
    const ask = (change: object = {}) =>
      thrown(() => client.send(new aws.ConverseCommand({ ...hi, ...change })));
    const refused = await ask({ messages: [{ role: "assistant", content: [{ text: "Hi" }] }] });
    expect([refused.name, refused.$metadata?.httpStatusCode]).toEqual(["ValidationException", 400]);
    simulator.behave({ behaviour: { status: 429, error_code: "ThrottlingException" }, calls: 1 });
    expect((await ask()).name).toBe("ThrottlingException");
    simulator.behave({ behaviour: { error_after_events: 3 }, calls: 1 });
    const broken = await thrown(async () => {
      const { stream } = await client.send(new aws.ConverseStreamCommand(hi));
      for await (const _ of stream ?? []);
    });
    expect(broken.name).toBe("ModelStreamErrorException");
  });
});

describe("openai", () => {
  let client: OpenAI;
  beforeAll(() => {
    client = new OpenAI({ apiKey: "k", baseURL: `${simulator.url}/v1`, maxRetries: 0 });
  });
  const hi = { model: "sim-base-1", messages: [{ role: "user" as const, content: "Hi" }] };
  const tools = ["weather", "clock"].map((name) => ({
    type: "function" as const,
    function: { name, parameters },
  }));

  test("an answer, its text, log probabilities and usage", async () => {
    const { choices, usage } = await client.chat.completions.create({
      ...hi,
      logprobs: true,
      top_logprobs: 2,
    });
    const [choice] = choices;
    expect(choice?.logprobs?.content?.map(({ token }) => token).join("")).toBe(choice?.message.content ?? "");
    expect([usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0]).toEqual(invoiced());
  });

  test("a stream through its helper, with two calls and their round", async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: ASKED }];
    const options = { model: hi.model, tools, stream_options: { include_usage: true } };
    const { choices, usage } = await client.chat.completions
      .stream({ ...options, messages })
      .finalChatCompletion();
    const [choice] = choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect([usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0]).toEqual(invoiced());
    const calls = choice?.message.tool_calls ?? [];
    expect(
      calls.flatMap((call) =>
        call.type === "function"
          ? [[call.function.name, JSON.parse(call.function.arguments) as unknown]]
          : [],
      ),
    ).toEqual([
      ["weather", { city: "text" }],
      ["clock", { city: "text" }],
    ]);
    if (choice !== undefined) messages.push(choice.message);
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "rain" });
    const stream = client.chat.completions.stream({ ...options, messages });
    let words = "";
    stream.on("content", (delta) => (words += delta));
    expect(await stream.finalContent()).toBe(words);
  });

  test("refusals have the vendor's status; a stream that fails or is cut is no answer", async () => {
    for (const status of [400, 401, 429, 503]) {
      simulator.behave({ behaviour: { status }, calls: 1 });
      expect(await thrown(() => client.chat.completions.create(hi))).toMatchObject({ status });
    }
    for (const behaviour of [{ error_after_events: 3 }, { reset_after_events: 3 }]) {
      simulator.behave({ behaviour, calls: 1 });
      await thrown(() => client.chat.completions.stream(hi).finalChatCompletion());
    }
  });
});
