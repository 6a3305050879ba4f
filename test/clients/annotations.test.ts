// Citations of a stream, as real clients assemble them (wire.md §3.1): all of a choice's citations in one delta
// before its finish, in OpenAI's shape. They are not billed, and are part of a replay like everything else that was
// sent.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { streamText } from "ai";
import OpenAI7 from "openai";
import OpenAI6 from "openai-6";
import { countTokens } from "../../src/pricing/tokens.ts";
import { readEvents } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 } from "../support/models.ts";

let said: object[] = [];
let whole: object = {};
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const { stream } = (await request.json()) as { stream?: boolean };
    if (stream !== true) return Response.json(whole);
    const events = said.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return new Response(`${events}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  },
});
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    providers: { odd: `http://127.0.0.1:${upstream.port}/v1` },
    models: [
      {
        ...PREVIEW_V1,
        model: "odd-1",
        provider: "odd",
        capabilities: { ...PREVIEW_V1.capabilities, max_n: 2 },
      },
    ],
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});

const cited = (place: number, url = `https://example.com/${place}`) => ({
  type: "url_citation" as const,
  url_citation: { start_index: place, end_index: place + 2, url, title: "Näme" },
});
const chunk = (delta: object, { finish = null as string | null, index = 0 } = {}): object => ({
  id: "up-1",
  choices: [{ index, delta, finish_reason: finish }],
});
/** Over several chunks, one of them repeated, the last beside the finish: as providers send them. */
const SAID = [
  chunk({ content: "Hello " }),
  chunk({ annotations: [cited(0)] }),
  chunk({ content: "world", annotations: [cited(0), cited(6)] }),
  chunk({ annotations: [cited(8)] }, { finish: "stop" }),
];
const ALL = [cited(0), cited(6), cited(8)];
const indexed = ALL.map((annotation, index) => ({ index, ...annotation }));
const ask = { model: "odd-1", messages: [{ role: "user" as const, content: "Hi" }] };

/** The lists of annotations that reached the client, with the index of their chunk. */
function annotationsIn(raw: string): { at: number; index: number; annotations: unknown }[] {
  return readEvents(raw).chunks.flatMap(({ choices }, at) =>
    choices.flatMap(({ index, delta }) =>
      "annotations" in delta ? [{ at, index, annotations: delta.annotations }] : [],
    ),
  );
}

test.each([
  ["openai 7", OpenAI7 as unknown as typeof OpenAI7],
  ["openai 6", OpenAI6 as unknown as typeof OpenAI7],
])("%s has all of them at the end of .stream(), and in one chunk by iteration", async (_, OpenAI) => {
  said = SAID;
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret, maxRetries: 0 });
  const final = await client.chat.completions.stream(ask).finalChatCompletion();
  expect(final.choices[0]?.message.content).toBe("Hello world");
  expect(final.choices[0]?.message.annotations as unknown).toEqual(indexed);
  expect(final.choices[0]?.finish_reason).toBe("stop");
  const told: unknown[] = [];
  for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true })) {
    const delta = choices[0]?.delta;
    if (delta !== undefined && "annotations" in delta) told.push(delta.annotations);
  }
  expect(told).toEqual([indexed]);
});

test("an answer with citations can be sent back as a message of the next turn", async () => {
  said = SAID;
  const client = new OpenAI7({ baseURL: gateway.baseUrl, apiKey: customer.secret, maxRetries: 0 });
  const final = await client.chat.completions.stream(ask).finalChatCompletion();
  const message = final.choices[0]?.message;
  if (message === undefined) throw new Error("no choice");
  const next = client.chat.completions.stream({
    ...ask,
    messages: [...ask.messages, message, ...ask.messages],
  });
  expect((await next.finalChatCompletion()).choices[0]?.message.content).toBe("Hello world");
});

test("the AI SDK and LangChain read the text as before", async () => {
  said = SAID;
  const provider = createOpenAICompatible({
    name: "tollgate",
    baseURL: gateway.baseUrl,
    apiKey: customer.secret,
  });
  const errors: unknown[] = [];
  const result = streamText({
    model: provider("odd-1"),
    prompt: "Hi",
    onError: ({ error }) => void errors.push(error),
  });
  expect(await result.text).toBe("Hello world");
  expect([await result.finishReason, errors]).toEqual(["stop", []]);
  const model = new ChatOpenAI({
    model: "odd-1",
    apiKey: customer.secret,
    configuration: { baseURL: gateway.baseUrl },
  });
  let text = "";
  for await (const part of await model.stream("Hi")) text += part.text;
  expect(text).toBe("Hello world");
});

test("a whole body has the same citations, in OpenAI's shape", async () => {
  const message = {
    role: "assistant",
    content: "Hello world",
    annotations: [...ALL, { type: "file" }, cited(0)],
  };
  whole = { id: "up-1", choices: [{ index: 0, message, finish_reason: "stop" }] };
  const { json } = await gateway.chat<OpenAI7.ChatCompletion>(customer, ask);
  expect(json.choices[0]?.message.annotations).toEqual(ALL);
});

test("each choice has its own, before its finish", async () => {
  said = [
    chunk({ content: "a" }),
    chunk({ content: "b", annotations: [cited(7)] }, { index: 1 }),
    chunk({ annotations: [cited(1)] }),
    chunk({}, { finish: "stop", index: 1 }),
    chunk({}, { finish: "stop" }),
  ];
  const { text, chunks } = { ...(await streamed({ n: 2 })) };
  const told = annotationsIn(text);
  expect(told.map(({ index, annotations }) => [index, annotations])).toEqual([
    [0, [{ index: 0, ...cited(1) }]],
    [1, [{ index: 0, ...cited(7) }]],
  ]);
  for (const { at, index } of told) {
    const finish = chunks.findIndex(({ choices }) =>
      choices.some((choice) => choice.index === index && choice.finish_reason !== null),
    );
    expect(finish).toBeGreaterThan(at);
  }
});

test("they cost nothing: the charge is that of the same text without them", async () => {
  said = [chunk({ content: "Hello world", annotations: ALL }), chunk({}, { finish: "stop" })];
  const { chunks } = await streamed({});
  const words = await countTokens(["Hello world"], "o200k_base", { organizationId: "o", lane: "settlement" });
  expect(chunks.at(-1)?.gateway?.cost).toMatchObject({ evidence: "delivered_tokens", output_tokens: words });
});

test("a broken stream with nothing but citations has delivered nothing, and costs nothing", async () => {
  said = [chunk({ annotations: ALL }), { error: { code: 500, message: "x" } }];
  const before = await gateway.balance(customer);
  expect((await gateway.chat(customer, { ...ask, stream: true })).status).toBe(502);
  expect(await gateway.balance(customer)).toEqual(before);
});

test("a replay has them in the same bytes, also from an event before them", async () => {
  said = SAID;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await gateway.chat(customer, { ...ask, stream: true }, headers);
  const [told] = annotationsIn(first.text);
  expect(told?.annotations).toEqual(indexed);
  said = [chunk({ content: "never asked again" }, { finish: "stop" })];
  const again = await gateway.chat(customer, { ...ask, stream: true }, headers);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.text).toBe(first.text);
  const id = String(told?.at ?? 0); // events count from 1, so this is the one before
  const rest = await gateway.chat(customer, { ...ask, stream: true }, { ...headers, "last-event-id": id });
  expect(first.text.endsWith(rest.text)).toBe(true);
  expect(annotationsIn(rest.text).map(({ at, annotations }) => [at, annotations])).toEqual([[0, indexed]]);
});

test("however many a provider sends, the stream and its replay have a limited list, on one line", async () => {
  const many = Array.from({ length: 2000 }, (_, n) =>
    cited(n, `https://example.com/\u2028${"a".repeat(400)}`),
  );
  said = [
    chunk({ content: "a" }),
    ...many.map((one) => chunk({ annotations: [one] })),
    chunk({}, { finish: "stop" }),
  ];
  const { text } = await streamed({});
  const [told, ...others] = annotationsIn(text);
  expect(others).toEqual([]);
  const list = told?.annotations as unknown[];
  expect(list.length).toBeGreaterThan(100);
  expect(list.length).toBeLessThanOrEqual(256);
  expect(text.length).toBeLessThan(128 * 1024);
  expect(text).not.toContain("\u2028");
});

async function streamed(body: object): Promise<{ text: string } & ReturnType<typeof readEvents>> {
  const { text } = await gateway.chat(customer, { ...ask, ...body, stream: true });
  return { text, ...readEvents(text) };
}
