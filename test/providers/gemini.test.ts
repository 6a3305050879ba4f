// Gemini behind a whole gateway, on a simulator that is as strict as the vendor: conversations of tools with thinking, routes
// that change under them, faults; and the bill agrees with the ledger each time.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { google } from "../../src/providers/google/kind.ts";
import { httpReply, startUpstream, type Upstream } from "../../src/providers/openai/openai.fixtures.ts";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import { type ErrorJson, type Events, type GatewayJson, gatewayOf, textOf } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1, type TestManifest } from "../support/models.ts";

/** Of a request, nano-USD; a token costs 2,000. */
const MINIMUM = 100_000;
const FLASH = "gemini-3.8-flash";
const PRO = "gemini-3.1-pro";
const OLD = "gemini-2.5-flash";
const base: TestManifest = {
  ...PREVIEW_V1,
  requires_paid: false,
  provider: "gemini",
  upstream_model: FLASH,
  reasoning: { modes: ["none", "low", "high"], default: "low" },
};
const on = (model: string, routes: Partial<TestManifest>[]): TestManifest[] =>
  routes.map((route, priority) => ({ ...base, model, priority, ...route }));
const OPENAI = { provider: "simulator", upstream_model: "sim-base-1" };
const MODELS = [
  ...on("flash", [{}]),
  ...on("old", [{ upstream_model: OLD }]),
  ...on("both", [{}, OPENAI]),
  ...on("two", [{}, { provider: "gemini-b", upstream_model: PRO }]),
  ...on("odd", [{ provider: "odd" }]),
];

let odd: Upstream;
let answer = "";
let gateway: TestGateway;
let customer: Customer;

/** Further providers of `kind: google`, at the simulator's face or elsewhere. */
function configure(config: Config): void {
  const [simulator] = config.providers;
  if (simulator === undefined) throw new Error("no simulator");
  const face = `${simulator.baseUrl?.replace(/\/v1$/, "")}/google/v1beta`;
  const own = { envelope: "direct", api_key: "provider-key" };
  const health = { ...simulator.health, openAfterFailures: 1000, halfOpenAfterMs: 1 };
  for (const [name, baseUrl] of Object.entries({ gemini: face, "gemini-b": face, odd: odd.url }))
    config.providers.push({ ...simulator, name, kind: google, baseUrl, own, health });
}

beforeAll(async () => {
  odd = await startUpstream(({ socket }) => socket.write(httpReply(200, answer)));
  gateway = await startGateway({ models: MODELS, configure });
  customer = await gateway.customer({ usd: "100" });
});
afterEach(() => gateway.simulator.behaveWell());
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await odd[Symbol.asyncDispose]();
});

const tool = (name: string): object => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
});
const TOOLS = [tool("get_weather"), tool("get_time")];

interface CallJson {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: { google?: { thought_signature: string; issuer: string } };
}
interface MessageJson {
  role: string;
  content: string | null;
  reasoning_content?: string;
  tool_calls?: CallJson[];
}
interface CompletionJson {
  choices: { message: MessageJson; finish_reason: string }[];
  gateway: GatewayJson;
}

/** The message that a stream's deltas make, as clients put it together. */
function messageOf(events: Events): MessageJson {
  const message: MessageJson = { role: "assistant", content: null };
  for (const { choices } of events.chunks)
    for (const { delta } of choices) {
      const { content, reasoning_content: thought, tool_calls: calls } = delta as Partial<MessageJson>;
      if (content) message.content = (message.content ?? "") + content;
      if (thought) message.reasoning_content = (message.reasoning_content ?? "") + thought;
      for (const call of (calls ?? []) as (CallJson & { index: number })[]) {
        const { index, ...begun } = call;
        message.tool_calls ??= [];
        const known = message.tool_calls[index];
        if (known === undefined) message.tool_calls[index] = structuredClone(begun);
        else known.function.arguments += call.function.arguments;
      }
    }
  return message;
}

/** One call; its message and receipt. */
async function turn(body: object, stream: boolean): Promise<{ message: MessageJson; receipt: GatewayJson }> {
  if (stream) {
    const { status, events, text } = await gateway.stream(customer, body);
    if (status !== 200) throw new Error(text);
    return { message: messageOf(events), receipt: gatewayOf(events) };
  }
  const { status, json, text } = await gateway.chat<CompletionJson>(customer, body);
  if (status !== 200) throw new Error(text);
  return { message: json.choices[0]?.message ?? { role: "", content: null }, receipt: json.gateway };
}

const billed = (requestId: string) =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === requestId);

/** What was charged is what the provider would invoice, and it refused none of the calls. */
async function expectAgreement({ request_id: id }: GatewayJson, refused = 0): Promise<void> {
  const calls = billed(id);
  expect(calls.filter(({ outcome }) => outcome === "refused")).toHaveLength(refused);
  const [call] = calls.filter((one) => one.billed);
  const { prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0 } = call ?? {};
  const record = await gateway.request(id);
  expect(record).toMatchObject({
    state: "settled",
    evidence: "provider_usage",
    usage: { promptTokens, completionTokens },
    charge: nanoUsd(BigInt(Math.max(MINIMUM, (promptTokens + completionTokens) * 2000))),
  });
}

interface Story {
  model: string;
  /** Before each turn. */
  before?: (nth: number) => Behaviour | null;
  /** What a client keeps of what it was told. */
  kept?: (message: MessageJson) => MessageJson;
  stream: (nth: number) => boolean;
}

/** Twenty rounds: two tools at once, then the words after their answers. */
async function converse({ model, before, kept = (message) => message, stream }: Story): Promise<string[]> {
  const messages: unknown[] = [{ role: "system", content: "Be brief." }];
  const providers: string[] = [];
  let nth = 0;
  const next = async (tool_choice: unknown): Promise<MessageJson> => {
    const ordered = before?.(nth) ?? null;
    if (ordered !== null) gateway.simulator.behave({ behaviour: ordered, model: FLASH, calls: 1 });
    const body = { model, messages, tools: TOOLS, tool_choice, reasoning_effort: "high" };
    const { message, receipt } = await turn(body, stream(nth));
    nth += 1;
    await expectAgreement(receipt, ordered === null ? 0 : 1);
    providers.push(receipt.provider ?? "");
    messages.push(kept(message));
    return message;
  };
  const answered = (calls: readonly CallJson[]): void => {
    for (const {
      id,
      function: { name },
    } of calls.toReversed())
      messages.push({ role: "tool", tool_call_id: id, content: `{"${name}":1.50}` });
  };
  for (let round = 1; round <= 20; round += 1) {
    messages.push({ role: "user", content: `Use get_weather and get_time, round ${round}` });
    const { tool_calls: calls = [] } = await next("auto");
    expect(calls.map((call) => call.function)).toEqual([
      { name: "get_weather", arguments: '{"city":"text"}' },
      { name: "get_time", arguments: '{"city":"text"}' },
    ]);
    answered(calls);
    const words = await next("auto");
    expect([words.content !== null, words.tool_calls]).toEqual([true, undefined]);
  }
  return providers;
}

test.each([
  ["whole", false],
  ["streamed", true],
] as const)(
  "twenty turns with thinking and parallel tools, %s: nothing is refused, and each turn costs what it is billed",
  async (_, streamed) => {
    const providers = await converse({ model: "flash", stream: () => streamed });
    expect(new Set(providers)).toEqual(new Set(["gemini"]));
  },
  120_000,
);

test("a signature leaves once, on the first call, under Google's own name; thoughts are reasoning", async () => {
  for (const stream of [false, true]) {
    const { message } = await turn(
      {
        model: "flash",
        messages: [{ role: "user", content: "Use get_weather and get_time" }],
        tools: TOOLS,
        reasoning_effort: "high",
      },
      stream,
    );
    expect(message.reasoning_content).toMatch(/\w+/);
    expect(
      message.tool_calls?.map(({ extra_content: extra }) => extra?.google?.thought_signature ?? null),
    ).toEqual([expect.stringMatching(/^[\w+/]{43}=$/), null]);
  }
});

test("twenty turns while routes change between Gemini and the chat-completions shape", async () => {
  // Every third call finds Gemini unavailable.
  const providers = await converse({
    model: "both",
    before: (nth) => (nth % 3 === 1 ? { status: 503 } : null),
    stream: (nth) => nth % 2 === 0,
  });
  expect(new Set(providers)).toEqual(new Set(["gemini", "simulator"]));
}, 120_000);

test("twenty turns while routes change between two models of Gemini, each with signatures of its own", async () => {
  const providers = await converse({
    model: "two",
    before: (nth) => (nth % 3 === 1 ? { status: 503 } : null),
    stream: (nth) => nth % 2 === 1,
  });
  expect(new Set(providers)).toEqual(new Set(["gemini", "gemini-b"]));
}, 120_000);

test("twenty turns of a client that keeps no signatures", async () => {
  await converse({
    model: "flash",
    kept: ({ tool_calls: calls, ...message }) => ({
      ...message,
      ...(calls && {
        tool_calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
      }),
    }),
    stream: (nth) => nth % 2 === 0,
  });
}, 120_000);

test("twenty turns of a model that asks for no signatures and thinks by a budget", async () => {
  await converse({ model: "old", stream: (nth) => nth % 2 === 0 });
}, 120_000);

test("a signature that somebody made up is the caller's mistake, costs nothing, and opens no circuit", async () => {
  const call = {
    id: "c1",
    type: "function",
    function: { name: "get_time", arguments: "{}" },
    extra_content: { google: { thought_signature: "bWFkZSB1cA==" } },
  };
  const forged = {
    model: "flash",
    messages: [
      { role: "user", content: "Go." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "1" },
    ],
    tools: TOOLS,
  };
  for (let n = 0; n < 6; n += 1) {
    const { status, json } = await gateway.chat<ErrorJson>(customer, forged);
    expect([status, json.error.code, json.error.param]).toEqual([400, "invalid_request", "messages"]);
    expect(billed(json.error.request_id)).toMatchObject([{ outcome: "refused", billed: false }]);
    expect(await gateway.request(json.error.request_id)).toMatchObject({ state: "released" });
  }
  const { status } = await gateway.chat(customer, { ...forged, messages: forged.messages.slice(0, 1) });
  expect(status).toBe(200);
});

const FAULTS: [string, Behaviour, string][] = [
  ["a busy model", { status: 503 }, "unavailable"],
  ["a rate limit", { status: 429 }, "rate_limited"],
  ["a refused key", { status: 403 }, "account"],
];

test.each(FAULTS)(
  "%s before the first part: proven not to have run, so the other shape answers",
  async (_, behaviour, errorClass) => {
    for (const stream of [false, true]) {
      await Bun.sleep(5); // a refused account is tried again
      gateway.simulator.behave({ behaviour, model: FLASH, calls: 1 });
      const { receipt } = await turn(
        { model: "both", messages: [{ role: "user", content: "Hello" }] },
        stream,
      );
      expect(receipt.provider).toBe("simulator");
      await expectAgreement(receipt, 1);
      expect((await gateway.request(receipt.request_id)).attempts).toMatchObject([
        { provider: "gemini", outcome: "not_executed", errorClass },
        { provider: "simulator", outcome: "answered" },
      ]);
    }
  },
);

test.each([1, 5])("a stream that is cut after %d events is charged as far as it was told", async (events) => {
  gateway.simulator.behave({
    behaviour: { reset_after_events: events, completion_tokens: 30 },
    model: OLD,
    calls: 1,
  });
  const { events: heard, text } = await gateway.stream(customer, {
    model: "old",
    messages: [{ role: "user", content: "Hello" }],
    reasoning_effort: "none",
  });
  expect(text).toContain('"code":"provider_error"');

  const { request_id: id } = gatewayOf(heard);
  const [call] = billed(id);
  expect(call?.outcome).toBe("cut");
  expect(await gateway.request(id)).toMatchObject({
    state: "settled",
    usage: { promptTokens: call?.prompt_tokens, completionTokens: call?.completion_tokens },
  });
});

test("an error inside a stream that has begun ends it with our own words, charged as far as it was told", async () => {
  gateway.simulator.behave({
    behaviour: { error_after_events: 4, completion_tokens: 30 },
    model: OLD,
    calls: 1,
  });
  const { events, text } = await gateway.stream(customer, {
    model: "old",
    messages: [{ role: "user", content: "Hello" }],
    reasoning_effort: "none",
  });
  const spoken = events.chunks.filter(({ error }) => error === undefined);
  expect(
    textOf({ ...events, chunks: spoken })
      .trim()
      .split(" "),
  ).toHaveLength(4);
  expect(text).not.toContain("the simulated model failed");
  expect(billed(gatewayOf(events).request_id)).toHaveLength(1);
});

const SHAPES: [string, string][] = [
  ["chat completions", '{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}'],
  ["Messages", '{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}'],
  ["an error with status 200", '{"error":{"code":400,"message":"no"}}'],
  ["HTML", "<html></html>"],
  ["half a body", '{"candidates":[{"content":'],
  ["a list", "[]"],
];

test.each(SHAPES)(
  "another shape than configured, %s: 502, one call, nothing held or charged",
  async (_, text) => {
    answer = text;
    for (const stream of [false, true]) {
      const [calls, before] = [odd.got.length, await gateway.balance(customer)];
      const reply = await gateway.chat<ErrorJson>(customer, {
        model: "odd",
        messages: [{ role: "user", content: "Hello" }],
        stream,
      });
      expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
      expect(odd.got.length - calls).toBe(1);
      const after = await gateway.balance(customer);
      expect([after.held, after.available]).toEqual([nanoUsd(0n), before.available]);
    }
  },
);
