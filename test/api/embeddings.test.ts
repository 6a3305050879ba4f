// Embeddings, from outside: the unmodified official SDK, and after each call what the ledger has and the provider
// would bill (surfaces.md §5, docs/decisions/0050-texts-and-vectors.md).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import type { Socket } from "node:net";
import OpenAI from "openai";
import type { ErrorJson, GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN, VECTORS } from "../support/models.ts";
import { openSocket } from "../support/raw.ts";
import { waitFor } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
/** A gateway on which a client reads the status of a long answer and then nothing more. */
let impatient: TestGateway;
let unread: { who: Customer; reader: Socket };
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      PLAIN,
      VECTORS,
      { ...VECTORS, model: "vectors-small", upstream_model: "sim-small", context_window: 64 },
      onProvider(VECTORS, "second", { model: "vectors-2", upstream_model: "sim-second", priority: 2 }),
      { ...VECTORS, model: "vectors-2", upstream_model: "sim-first", route: "vectors-2-first" },
    ],
    configure: (config) => {
      const [provider] = config.providers;
      if (provider === undefined) throw new Error("no provider");
      for (const one of config.providers) one.health = { ...one.health, openAfterFailures: 1000 };
      config.providers.push({ ...provider, name: "second" });
    },
  });
  customer = await gateway.customer({ usd: "50" });
  impatient = await startGateway({
    models: [VECTORS],
    configure: (config) => {
      config.limits.streamIdleMs = 3000;
      for (const one of config.providers) one.health = { ...one.health, openAfterFailures: 1 };
    },
  });
  const who = await impatient.customer({ usd: "50" });
  unread = { who, reader: await silentReader(crypto.randomUUID(), { of: impatient, who }) };
});
afterAll(async () => {
  unread.reader.destroy();
  await gateway.assertSound();
  for (const one of [gateway, impatient]) await one.stop();
});

const ASKED = { model: "vectors-1", input: "Once upon a time" };
/** What its tokens cost, nano-USD. */
const RATE = 2000;

interface Listed {
  object: string;
  data: { object: string; index: number; embedding: number[] | string }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
  gateway: GatewayJson;
}

interface Asking {
  key?: string;
  path?: string;
  who?: Customer;
  of?: TestGateway;
}

async function post<T = Listed>(
  body: unknown,
  { key, path = "", who = customer, of = gateway }: Asking = {},
): Promise<{ status: number; headers: Headers; text: string; json: T }> {
  const response = await fetch(`${of.baseUrl}/embeddings${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${who.secret}`,
      "content-type": "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as T };
}

const refusalOf = async (body: unknown): Promise<[number, string, string | null]> => {
  const { status, json } = await post<ErrorJson>(body);
  return [status, json.error.code, json.error.param];
};

const client = (): OpenAI => new OpenAI({ baseURL: gateway.baseUrl, apiKey: customer.secret });
const calls = () => gateway.simulator.bill();
const billed = (id: string): number | undefined =>
  calls().find(({ request_id }) => request_id === id)?.prompt_tokens;

test("the SDK's vectors, requested in base64, equal the numeric ones; one charge, for the input", async () => {
  const before = await gateway.balance(customer);
  const { data, response } = await client().embeddings.create(ASKED).withResponse();
  const id = response.headers.get("x-request-id") ?? "";
  const [first] = data.data;
  expect([data.object, data.model, data.data.length, first?.index]).toEqual(["list", "vectors-1", 1, 0]);
  expect(data.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  const numbers = await post({ ...ASKED, encoding_format: "float" });
  expect(first?.embedding.map(Math.fround)).toEqual(
    ((numbers.json.data[0]?.embedding ?? []) as number[]).map(Math.fround),
  );
  expect(first?.embedding).toHaveLength(16);

  const { usage, charge, hold, state, evidence, outputBound, promptBound } = await gateway.request(id);
  expect([state, evidence, outputBound]).toEqual(["settled", "provider_usage", 0]);
  expect(usage).toMatchObject({ promptTokens: 4, completionTokens: 0 });
  expect(billed(id)).toBe(4);
  expect(charge).toBe(BigInt(4 * RATE) as typeof charge);
  expect(hold).toBe(BigInt(promptBound * RATE) as typeof hold);
  const { gateway: receipt } = data as unknown as Listed;
  expect(receipt.cost).toMatchObject({
    input_tokens: 4,
    output_tokens: 0,
    customer_charge_usd: (4 * RATE) / 1e9,
  });
  expect(receipt.cost.lines.map(({ class: name }) => name)).toEqual(["input"]);
  const after = await gateway.balance(customer);
  expect([before.available - after.available, after.held]).toEqual([charge * 2n, 0n] as never);
});

test("texts, token ids and lists of them: a vector for each in its place, and each id is one token", async () => {
  const texts = await post({
    ...ASKED,
    input: ["one", "two two", "three three three"],
    encoding_format: "float",
  });
  expect(texts.json.data.map(({ index }) => index)).toEqual([0, 1, 2]);
  const alone = await post({ ...ASKED, input: ["two two"], encoding_format: "float" });
  expect(texts.json.data[1]?.embedding).toEqual(alone.json.data[0]?.embedding ?? []);
  for (const [input, vectors, tokens] of [
    [[11, 22, 33], 1, 3],
    [[[11, 22, 33], [44]], 2, 4],
  ] as const) {
    const { json } = await post({ ...ASKED, input });
    expect([json.data.length, json.usage.prompt_tokens]).toEqual([vectors, tokens]);
    expect(billed(json.gateway.request_id)).toBe(tokens);
  }
  const { json } = await post({ ...ASKED, dimensions: 5 });
  expect(json.data[0]?.embedding).toHaveLength(5);
});

test("input that nobody could embed is refused by name, holds nothing, and calls nobody", async () => {
  const [count, before] = [calls().length, await gateway.balance(customer)];
  for (const [fields, status, code, param] of [
    [{ input: Array.from({ length: 10_000 }, () => "x") }, 400, "array_above_max_length", "input"],
    [{ input: "x".repeat(2 ** 20 + 1) }, 400, "string_above_max_length", "input"],
    [
      { input: Array.from({ length: 6 }, () => "x".repeat(2 ** 20)) },
      400,
      "string_above_max_length",
      "input",
    ],
    [{ input: "x".repeat(10_000_000) }, 413, "payload_too_large", null],
    [{ input: Array.from({ length: 300_000 }, () => 1) }, 400, "array_above_max_length", "input"],
    [{ input: "" }, 400, "invalid_request", "input"],
    [{ input: [] }, 400, "invalid_request", "input"],
    [{ input: ["a", ""] }, 400, "invalid_request", "input[1]"],
    [{ input: ["a", [1]] }, 400, "invalid_request", "input[1]"],
    [{ input: ["a", 1] }, 400, "invalid_request", "input[1]"],
    [{ input: [[1], []] }, 400, "invalid_request", "input[1]"],
    [{ input: [1, -1] }, 400, "invalid_request", "input[1]"],
    [{ input: { text: "a" } }, 400, "invalid_request", "input"],
    [{ input: null }, 400, "invalid_request", "input"],
    [{ encoding_format: "int8" }, 400, "unsupported_value", "encoding_format"],
    [{ dimensions: 0 }, 400, "integer_below_min_value", "dimensions"],
    [{ user: 7 }, 400, "invalid_request", "user"],
    [{ stream: true }, 400, "unknown_parameter", "stream"],
    [{ model: "plain-1" }, 400, "unsupported_value", "model"],
    [{ model: "vectors-small", input: "one ".repeat(100) }, 400, "context_length_exceeded", "input"],
  ] as const)
    expect([Object.keys(fields), ...(await refusalOf({ ...ASKED, ...fields }))]).toEqual([
      Object.keys(fields),
      status,
      code,
      param,
    ]);
  const chat = await gateway.chat<ErrorJson>(customer, {
    model: "vectors-1",
    messages: [{ role: "user", content: "Hi" }],
  });
  expect([chat.status, chat.json.error.code, chat.json.error.param]).toEqual([
    400,
    "unsupported_value",
    "model",
  ]);
  expect(chat.json.error.message).toContain("/v1/embeddings");
  expect(calls()).toHaveLength(count);
  expect(await gateway.balance(customer)).toEqual(before);
});

test("a window exceeded only by the bytes is decided by counting; one token more than it has is refused", async () => {
  const fits = await post({ ...ASKED, model: "vectors-small", input: " a".repeat(48) });
  expect([fits.status, fits.json.usage.prompt_tokens]).toEqual([200, 48]);
  expect(await refusalOf({ ...ASKED, model: "vectors-small", input: " a".repeat(49) })).toEqual([
    400,
    "context_length_exceeded",
    "input",
  ]);
});

test("a provider that reports no usage, too much or nonsense: our count, the bound, our count", async () => {
  const input = "Once upon a time there was a river";
  const tokens = (await post({ ...ASKED, input })).json.usage.prompt_tokens;
  for (const behaviour of [
    { no_usage: true },
    { usage_as_is: { prompt_tokens: "many" } },
    { usage_as_is: {} },
  ]) {
    gateway.simulator.behave({ behaviour, calls: 1 });
    const { json } = await post({ ...ASKED, input });
    const { evidence, usage } = await gateway.request(json.gateway.request_id);
    expect([evidence, usage?.completionTokens]).toEqual(["delivered_tokens", 0]);
    expect(json.usage.prompt_tokens).toBe(tokens + OVERHEAD);
  }
  gateway.simulator.behave({
    behaviour: { usage: { prompt_tokens: 1_000_000, completion_tokens: 0 } },
    calls: 1,
  });
  const { json } = await post({ ...ASKED, input });
  const { promptBound, charge, hold, attempts } = await gateway.request(json.gateway.request_id);
  expect([json.usage.prompt_tokens, charge]).toEqual([promptBound, hold] as never);
  expect(attempts.at(-1)?.doubts).toEqual(["usage_clamped"]);
  gateway.simulator.behave({
    behaviour: { usage_as_is: { total_tokens: 9, completion_tokens: 500 } },
    calls: 1,
  });
  const total = await post({ ...ASKED, input });
  expect([total.json.usage.prompt_tokens, total.json.gateway.cost.output_tokens]).toEqual([9, 0]);
  // Nothing of it was doubted: a reported output says nothing about the input.
  const doubted = (await gateway.request(total.json.gateway.request_id)).attempts.at(-1)?.doubts;
  expect(doubted ?? []).toEqual([]);
});

/** A flat number for every request whose prompt we count ourselves. */
const OVERHEAD = 16;

test("a retry gets the same bytes and pays nothing; another body under the key is not a retry", async () => {
  const key = crypto.randomUUID();
  const first = await post({ ...ASKED, encoding_format: "base64" }, { key });
  const [count, before] = [calls().length, await gateway.balance(customer)];
  const again = await post({ ...ASKED, encoding_format: "base64" }, { key });
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect([calls().length, await gateway.balance(customer)]).toEqual([count, before]);
  const other = await post<ErrorJson>({ ...ASKED, input: "Another" }, { key });
  expect([other.status, other.json.error.code]).toEqual([422, "idempotency_key_reused"]);
});

test("if a provider refuses, the next is tried; one that answers without vectors ends the request, and nothing is charged", async () => {
  gateway.simulator.behave({ model: "sim-first", behaviour: { status: 429 }, calls: 1 });
  const over = await post({ ...ASKED, model: "vectors-2" });
  expect([over.status, over.json.gateway.provider, over.json.gateway.attempts]).toEqual([200, "second", 2]);
  expect(billed(over.json.gateway.request_id)).toBe(0);

  const before = await gateway.balance(customer);
  for (const behaviour of [{ garbage: "json" as const }, { error_in_body: true }, { status: 500 }]) {
    gateway.simulator.behave({ behaviour, calls: 1 });
    expect((await refusalOf(ASKED)).slice(0, 2)).toEqual([502, "provider_error"]);
  }
  gateway.simulator.behave({
    behaviour: { status: 400, error_message: "Invalid 'input[0]': too odd" },
    calls: 1,
  });
  expect(await refusalOf({ ...ASKED, input: [ASKED.input] })).toEqual([400, "invalid_request", "input[0]"]);
  expect(await gateway.balance(customer)).toEqual(before);
});

test("the quote, the list of models and 402 concern only the input", async () => {
  type Quoted = {
    output_tokens_max: number;
    prompt_tokens_max: number;
    affordable_max_tokens: number;
    max_charge_usd: string;
  };
  const { json: quoted } = await post<Quoted & { object: string }>(ASKED, { path: "/quote" });
  expect(quoted).toMatchObject({ object: "embedding.quote", output_tokens_max: 0, affordable_max_tokens: 0 });
  expect(Number(quoted.max_charge_usd)).toBeCloseTo(quoted.prompt_tokens_max * RATE * 1e-9, 12);
  const listed = await gateway.get<{
    capabilities: object;
    supported_parameters: string[];
    max_output_tokens: number;
  }>(customer, "/v1/models/vectors-1");
  expect(listed.json).toMatchObject({
    capabilities: { embeddings: true, tools: false },
    supported_parameters: ["input", "encoding_format", "dimensions", "user"],
    max_output_tokens: 0,
  });
  const poor = await gateway.customer({ usd: "0.000001" });
  const { status, json } = await post<ErrorJson>(ASKED, { who: poor });
  expect([status, json.error.code, json.error.details?.["affordable_max_tokens"]]).toEqual([
    402,
    "insufficient_credits",
    0,
  ]);
  expect(json.error.message).toContain("Add credits, or send fewer inputs in one request.");
});

test("too many vectors to pass on are the caller's to request differently, and no fault of the route", async () => {
  const who = await impatient.customer({ usd: "50" });
  const client = new OpenAI({ baseURL: impatient.baseUrl, apiKey: who.secret, maxRetries: 0 });
  const before = await impatient.balance(who);
  const input = Array.from({ length: 2048 }, () => "x");
  const asked = { model: "vectors-1", input, dimensions: 3072, encoding_format: "float" } as const;
  const refused = await client.embeddings.create(asked).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 400, code: "invalid_request", param: "input" });
  expect(await impatient.balance(who)).toEqual(before);
  const { data } = await client.embeddings.create({ model: "vectors-1", input: "x" });
  expect(data).toHaveLength(1);
}, 120_000);

/** So many that their vectors may fill one organization's buffer space, and half of the total. */
const FILLING = Array.from({ length: 2048 }, () => "x");

test("more large answers than there is buffer space for are refused before anyone is paid, and block nobody else", async () => {
  const [second, third] = [await gateway.customer({ usd: "50" }), await gateway.customer({ usd: "50" })];
  const [before, paid, key] = [await gateway.balance(customer), calls().length, crypto.randomUUID()];
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 2 });
  const flood = Array.from({ length: 64 }, () => post<ErrorJson>({ ...ASKED, input: FILLING }));
  await waitFor(async () => calls().length > paid, "the first of them");
  const other = post({ ...ASKED, input: FILLING }, { who: second });
  await waitFor(async () => calls().length > paid + 1, "another organization's");
  const [full, small] = await Promise.all([
    post<ErrorJson>({ ...ASKED, input: FILLING }, { who: third, key }),
    post({ ...ASKED }, { who: third }),
  ]);
  let refused = 0;
  for (const one of flood) void one.then(({ status }) => (refused += status === 429 ? 1 : 0));
  await waitFor(async () => refused === flood.length - 1, "the refusals of all but one");
  gateway.simulator.behaveWell();
  const codes = (await Promise.all(flood)).map(({ status, json }) =>
    status === 200 ? 200 : json.error.code,
  );
  expect(codes.filter((code) => code === 200)).toHaveLength(1);
  expect(codes.filter((code) => code === "rate_limit_exceeded")).toHaveLength(63);
  expect([full.status, full.json.error.code, full.headers.get("retry-after")]).toEqual([
    503,
    "overloaded",
    "1",
  ]);
  expect([(await other).status, small.status]).toEqual([200, 200]);
  expect(calls()).toHaveLength(paid + 3);
  expect((await gateway.balance(customer)).held).toBe(before.held);
  expect((await post({ ...ASKED, input: FILLING }, { who: third, key })).status).toBe(200);
});

/**
 * Its answer is longer than what two machines buffer while nobody reads, and not too long to be stored for a replay.
 */
const LONG = { ...ASKED, input: FILLING, dimensions: 160 };

/** Requests that, and reads only its status. */
async function silentReader(key: string, { of = gateway, who = customer } = {}): Promise<Socket> {
  const body = JSON.stringify(LONG);
  const reader = openSocket(of.url);
  reader.write(
    `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${who.secret}\r\nIdempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [first] = (await once(reader, "data")) as [Buffer];
  reader.pause();
  expect(first.toString("latin1", 0, 15)).toBe("HTTP/1.1 200 OK");
  return reader;
}

test("an answer, or a replay of one, keeps its buffer space until its client has it, or has left", async () => {
  const key = crypto.randomUUID();
  const asked = async (): Promise<number> => (await post({ ...ASKED, input: FILLING })).status;
  for (const kind of ["new", "replayed"]) {
    const reader = await silentReader(key);
    expect({ kind, status: await asked() }).toEqual({ kind, status: 429 });
    reader.destroy();
    await waitFor(async () => (await asked()) === 200, "its room");
  }
});

test("a replay without buffer space is refused before it is read, and works on the next try", async () => {
  const key = crypto.randomUUID();
  const first = await post(LONG, { key });
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  const paid = calls().length;
  const filling = post({ ...ASKED, input: FILLING });
  await waitFor(async () => calls().length > paid, "who takes the room");
  const refused = await post<ErrorJson>(LONG, { key });
  expect([refused.status, refused.json.error.code, refused.headers.get("retry-after")]).toEqual([
    429,
    "rate_limit_exceeded",
    "1",
  ]);
  gateway.simulator.behaveWell();
  expect((await filling).status).toBe(200);
  const again = await post(LONG, { key });
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.text === first.text).toBe(true);
  expect(calls()).toHaveLength(paid + 1);
});

test("a failed answer releases its buffer space", async () => {
  const who = await gateway.customer({ usd: "50" });
  gateway.simulator.behave({ behaviour: { status: 400 }, calls: 1 });
  expect((await post({ ...ASKED, input: FILLING }, { who })).status).toBeGreaterThanOrEqual(400);
  expect((await post({ ...ASKED, input: FILLING.slice(0, 8) }, { who })).status).toBe(200);
});

test("a client that does not read a long answer is cut off after a while, and its buffer space is released", async () => {
  const { who, reader } = unread;
  const filling = { ...ASKED, input: FILLING };
  await waitFor(
    async () => (await post(filling, { who, of: impatient })).status === 200,
    "the room of an answer that nobody reads",
  );
  expect(reader.isPaused()).toBe(true);
  const lost = once(reader, "close");
  reader.resume();
  await lost;
});

test("a stored answer that turns out to be damaged releases the buffer space taken to read it", async () => {
  const who = await impatient.customer({ usd: "50" });
  const [key, of] = [crypto.randomUUID(), impatient];
  const { gateway: receipt } = (await post(LONG, { key, who, of })).json;
  const cut = "UPDATE result SET sealed = substr(sealed, 1, 1000000) WHERE request_id = ?1";
  await of.tamper(cut, receipt.request_id);
  const { status, json } = await post<ErrorJson>(LONG, { key, who, of });
  expect([status, json.error.code]).toEqual([409, "idempotency_result_not_retained"]);
  expect((await post({ ...ASKED, input: FILLING }, { who, of })).status).toBe(200);
});
