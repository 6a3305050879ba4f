// A provider's reported usage is a claim (money.md §4, §6; hardening): it is checked against the quote and against
// what was delivered.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Events, GatewayJson } from "../support/events.ts";
import { gatewayOf, textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, PLAIN, PREVIEW_V1, UNCOUNTED } from "../support/models.ts";
import { countTokens } from "../../src/pricing/tokens.ts";
import { createLog } from "../../src/lib/log.ts";
import type { RequestJson } from "../../src/api/shapes/requests.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const FREE = {
  ...PLAIN,
  model: "free-1",
  pricing: {
    ...PLAIN.pricing,
    input_per_million: "0",
    cached_input_per_million: "0",
    output_per_million: "0",
  },
};
/** Roughly 2,000 tokens. */
const PAGE = "the quick brown fox jumps over the lazy dog ".repeat(220);
const count = (texts: readonly string[]): Promise<number> =>
  countTokens(texts, "o200k_base", { organizationId: "org", lane: "settlement" });
let gateway: TestGateway;
let customer: Customer;
const logged: string[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    models: [...MODELS, FREE],
    log: createLog("warn", { write: (line: string) => void logged.push(line) }),
  });
  customer = await gateway.customer({ usd: "100" });
  await count(["warm"]);
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface AnswerJson {
  choices: {
    message: { content: string | null; tool_calls?: { function: { arguments: string } }[] };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  gateway: GatewayJson;
}

const told = (prompt_tokens: number, completion_tokens: number, total_tokens?: number): object => ({
  usage_as_is: { prompt_tokens, completion_tokens, ...(total_tokens !== undefined && { total_tokens }) },
});
const behave = (behaviour: object): void => gateway.simulator.behave({ behaviour, calls: 1 });
const ask = async (fields: object = {}): Promise<AnswerJson> => {
  const { status, json } = await gateway.chat<AnswerJson>(customer, { ...hello(), ...fields });
  expect(status).toBe(200);
  return json;
};
const requestOf = async (id: string): Promise<RequestJson> =>
  (await gateway.admin<RequestJson>("GET", `/requests/${id}`)).json;

// ── Above the quote ──────────────────────────────────────────────────────────────────────────────────────────────

test.each([
  ["whole", false],
  ["streamed", true],
])("%s: figures up to 2^53 − 1 are clamped to the quote, settled, noted and counted", async (_, stream) => {
  behave(told(MAX, MAX));
  let usage: AnswerJson["usage"] | null | undefined;
  let receipt: GatewayJson;
  if (stream) {
    const { events } = await gateway.stream(customer, {
      ...hello(),
      max_tokens: 30,
      stream_options: { include_usage: true },
    });
    usage = events.chunks.at(-1)?.usage as AnswerJson["usage"];
    receipt = gatewayOf(events);
  } else ({ usage, gateway: receipt } = await ask({ max_tokens: 30 }));
  const request = await requestOf(receipt.request_id);
  const { prompt_tokens, output_tokens } = request.bounds;
  expect(output_tokens).toBe(30);
  expect(usage).toMatchObject({ prompt_tokens, completion_tokens: 30, total_tokens: prompt_tokens + 30 });
  expect(request.usage).toMatchObject({ prompt_tokens, completion_tokens: 30 });
  expect(request.charge_usd <= request.hold_usd).toBe(true);
  expect(request.attempts[0]).toMatchObject({ doubts: ["usage_clamped"], told: null });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(
    /tollgate_provider_doubts_total\{provider="simulator",reason="usage_clamped"\} [1-9]/,
  );
});

test("usage that the window could hold is variance: recorded on the attempt, paid by the platform, not shown as usage", async () => {
  behave(told(50_000, 9000));
  const { usage, gateway: receipt } = await ask({ max_tokens: 100 });
  expect(usage.completion_tokens).toBe(100);
  const request = await requestOf(receipt.request_id);
  expect(request.attempts[0]).toMatchObject({
    doubts: ["usage_clamped", "output_above_maximum"],
    told: { prompt_tokens: 50_000, completion_tokens: 9000 },
  });
  // 59,000 tokens at 2,000 nano-USD, less the charge.
  const variance = 59_000n * 2000n - BigInt(request.charge_usd.replace(".", ""));
  expect(request.variance_usd.replace(".", "")).toBe(String(variance).padStart(10, "0"));
});

test("absurd figures of a free model do not reach its totals", async () => {
  for (let i = 0; i < 4; i += 1) {
    behave(told(MAX, MAX));
    await ask({ model: "free-1", max_tokens: 10 });
  }
  const { json } = await gateway.admin<{ data: { input_tokens: number; output_tokens: number }[] }>(
    "GET",
    `/usage?org=${customer.organizationId}&model=free-1`,
  );
  expect(json.data[0]?.output_tokens).toBe(40);
  expect(json.data[0]?.input_tokens).toBeLessThan(4000);
});

// ── Below what was delivered ─────────────────────────────────────────────────────────────────────────────────────

test("a total that leaves out the output does not make it free", async () => {
  behave(told(10, 50, 10));
  expect((await ask()).usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 });
  behave(told(10, 5, 60));
  expect((await ask()).usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 });
});

test.each([0, 1])("a page that is told as %d tokens is counted", async (completion) => {
  behave({ ...told(10, completion), text: PAGE });
  const { usage, gateway: receipt } = await ask({ max_tokens: 8000 });
  expect(usage.completion_tokens).toBe(await count([PAGE]));
  expect(usage.prompt_tokens).toBe(10);
  expect(receipt.cost?.evidence).toBe("delivered_tokens");
  const request = await requestOf(receipt.request_id);
  expect(request.attempts[0]).toMatchObject({ doubts: ["usage_below_delivered"], told: null });
});

test.each([false, true])("a few words reported as zero tokens are accepted (stream: %p)", async (stream) => {
  behave({ ...told(10, 0), text: "Hello there." });
  const receipt = stream
    ? gatewayOf((await gateway.stream(customer, hello())).events)
    : (await ask()).gateway;
  const output_tokens = await count(["Hello there."]);
  expect(receipt.cost).toMatchObject({ evidence: "delivered_tokens", input_tokens: 10, output_tokens });
  const request = await requestOf(receipt.request_id);
  expect(request.attempts[0]).toMatchObject({ doubts: ["usage_below_delivered"] });
});

test("without a tokenizer, nothing disproves a zero beside a few words", async () => {
  behave({ ...told(10, 0), text: "Hello there." });
  const { usage, gateway: receipt } = await ask({ model: UNCOUNTED.model });
  expect(usage.completion_tokens).toBe(0);
  expect(receipt.cost).toMatchObject({ evidence: "provider_usage", minimum_applied: true });
});

test("an answer without text is zero tokens if reported so", async () => {
  behave({ ...told(10, 0), text: "" });
  const { usage, gateway: receipt } = await ask();
  expect(usage.completion_tokens).toBe(0);
  expect(receipt.cost).toMatchObject({ evidence: "provider_usage", minimum_applied: true });
});

/** The last event of a broken stream is its error. */
const deliveredIn = (events: Events): Promise<number> =>
  count([textOf({ ...events, chunks: events.chunks.filter(({ choices }) => Array.isArray(choices)) })]);

test("usage in the first event does not cover what comes after it, even if the stream ends well", async () => {
  behave({ ...told(10, 1), usage_first: true, no_usage: true, completion_tokens: 40 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(true);
  const { cost } = gatewayOf(events);
  expect(cost).toMatchObject({ input_tokens: 10, output_tokens: await deliveredIn(events) });
  expect(cost?.output_tokens).toBeGreaterThan(20);
});

test("a stream that breaks after an early usage is charged for what was delivered", async () => {
  behave({ ...told(10, 0), usage_first: true, completion_tokens: 100, reset_after_events: 60 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(false);
  const { cost } = gatewayOf(events);
  expect(cost).toMatchObject({
    input_tokens: 10,
    output_tokens: await deliveredIn(events),
    evidence: "delivered_tokens",
  });
  expect(cost?.output_tokens).toBeGreaterThan(20);
});

test("a stream that breaks after more was reported than delivered is charged for what was reported", async () => {
  behave({ ...told(10, 77), usage_first: true, completion_tokens: 100, reset_after_events: 20 });
  const { events } = await gateway.stream(customer, hello());
  expect(gatewayOf(events).cost).toMatchObject({ output_tokens: 77, evidence: "provider_usage" });
});

// ── Past the maximum ─────────────────────────────────────────────────────────────────────────────────────────────

test("a whole body of 2,000 tokens for max_tokens 10 is cut at 10 and charged for 10", async () => {
  behave({ overrun_tokens: 2000 });
  const { choices, usage, gateway: receipt } = await ask({ max_tokens: 10 });
  expect(choices[0]?.finish_reason).toBe("length");
  const tokens = await count([choices[0]?.message.content ?? ""]);
  expect(tokens).toBeGreaterThan(7);
  expect(tokens).toBeLessThanOrEqual(10);
  expect(usage.completion_tokens).toBe(10);
  const request = await requestOf(receipt.request_id);
  expect(request.finish_reason).toBe("length");
  expect(request.attempts[0]).toMatchObject({ doubts: ["usage_clamped", "output_above_maximum"] });
  expect(request.attempts[0]?.told?.completion_tokens).toBe(2000);
  // An alarm, too: a counter, and a line that names the request and the provider.
  const line = logged.find((one) => one.includes(receipt.request_id));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    provider: "simulator",
    doubts: ["usage_clamped", "output_above_maximum"],
    told: { completionTokens: 2000 },
  });
});

test("it is cut although its usage claims that it obeyed, or is missing", async () => {
  for (const behaviour of [
    { ...told(10, 10), text: PAGE },
    { ...told(10, 0), text: PAGE },
    { no_usage: true, text: PAGE },
  ]) {
    behave({ ...behaviour, overrun_tokens: 2000 });
    const { choices, usage } = await ask({ max_tokens: 10 });
    expect(choices[0]?.finish_reason).toBe("length");
    expect(choices[0]?.message.content?.length).toBeLessThan(100);
    expect(usage.completion_tokens).toBeGreaterThan(7);
    expect(usage.completion_tokens).toBeLessThanOrEqual(10);
  }
});

test("a stream of it is cut, every choice ends, and half an answer keeps its tools separate", async () => {
  behave({ overrun_tokens: 2000 });
  const { events } = await gateway.stream(customer, {
    ...hello("base-preview-v1"),
    max_tokens: 10,
    n: 3,
    reasoning_effort: "none",
  });
  expect(events.done).toBe(true);
  const finishes = events.chunks.flatMap(({ choices }) =>
    choices.filter(({ finish_reason }) => finish_reason !== null).map(({ index }) => index),
  );
  expect(finishes.toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
  const { cost, request_id } = gatewayOf(events);
  expect(cost?.output_tokens).toBeLessThanOrEqual(30);
  const request = await requestOf(request_id);
  expect(request.attempts[0]?.doubts).toContain("output_above_maximum");
});

test("half a tool call of a whole body is dropped", async () => {
  behave({ overrun_tokens: 2000 });
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`property_${i}`, { type: "string" }]),
  );
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  const { choices } = await ask({
    model: PREVIEW_V1.model,
    max_tokens: 10,
    reasoning_effort: "none",
    tools: [{ type: "function", function: { name: "fill", parameters } }],
    tool_choice: { type: "function", function: { name: "fill" } },
  });
  expect(choices[0]?.finish_reason).toBe("length");
  expect(choices[0]?.message.tool_calls).toBeUndefined();
  expect(choices[0]?.message.content).toBeString();
});

test("an answer within its maximum is not changed", async () => {
  behave({ completion_tokens: 50 });
  const { choices, gateway: receipt } = await ask({ max_tokens: 50 });
  expect((await requestOf(receipt.request_id)).attempts[0]).toMatchObject({ doubts: [], told: null });
  expect(choices[0]?.message.content).not.toBe("");
});

test("the signed receipt of clamped usage is consistent with its own figures", async () => {
  behave(told(50_000, 9000));
  const { gateway: receipt } = await ask({ max_tokens: 100 });
  const reply = await gateway.get<{ receipt: Record<string, unknown> }>(
    customer,
    `/v1/receipts/${receipt.request_id}`,
  );
  expect(reply.status).toBe(200);
  expect(JSON.stringify(reply.json)).toContain('"told":{"prompt_tokens":50000');
});
