// POST /v1/chat/completions with `stream: true` (specification 4, 6; wire.md §3).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gatewayOf, reasoningOf, textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { reads } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

test("a stream begins with the role, ends with the receipt and [DONE], and every chunk has our id and the public model", async () => {
  const { status, headers, events } = await gateway.stream(customer, hello());
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  expect(events.done).toBe(true);
  const id = `chatcmpl-${headers.get("x-request-id")?.slice(4)}`;
  for (const chunk of events.chunks) {
    expect(chunk.id).toBe(id);
    expect(chunk.model).toBe("plain-1");
    expect(chunk.object).toBe("chat.completion.chunk");
    expect(chunk.choices.length).toBeGreaterThan(0);
  }
  const [first] = events.chunks;
  expect(first?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
  expect(events.chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  expect(textOf(events)).toMatch(/\w+/);
});

test("the receipt of a stream equals the ledger and the provider's bill", async () => {
  const { events } = await gateway.stream(customer, hello());
  const receipt = gatewayOf(events);
  const record = await gateway.request(receipt.request_id);
  const call = gateway.simulator.bill().findLast(({ request_id }) => request_id === receipt.request_id);
  expect(record.state).toBe("settled");
  expect(receipt.cost.output_tokens).toBe(call?.completion_tokens ?? -1);
  expect(receipt.cost.input_tokens).toBe(call?.prompt_tokens ?? -1);
  expect(Number(record.charge)).toBe(Math.round(receipt.cost.customer_charge_usd * 1e9));
  expect(receipt.cost.evidence).toBe("provider_usage");
});

test("a streamed and a whole answer to the same request have the same text and cost", async () => {
  const whole = await gateway.chat<{
    choices: { message: { content: string } }[];
    gateway: ReturnType<typeof gatewayOf>;
  }>(customer, hello());
  const { events } = await gateway.stream(customer, hello());
  expect(textOf(events)).toBe(whole.json.choices[0]?.message.content ?? "");
  expect(gatewayOf(events).cost).toEqual(whole.json.gateway.cost);
});

test("usage comes in a separate chunk if requested, and otherwise with the finish", async () => {
  const asked = await gateway.stream(customer, { ...hello(), stream_options: { include_usage: true } });
  const last = asked.events.chunks.at(-1);
  expect(last?.choices).toEqual([]);
  expect(last?.usage).toMatchObject({ total_tokens: expect.any(Number) });
  expect(asked.events.chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  const unasked = await gateway.stream(customer, hello());
  expect(unasked.events.chunks.at(-1)?.usage).toMatchObject({ total_tokens: expect.any(Number) });
});

test("reasoning arrives in delta.reasoning_content before the answer", async () => {
  const { events } = await gateway.stream(customer, {
    ...hello("base-preview-v1"),
    reasoning_effort: "high",
  });
  expect(reasoningOf(events)).toMatch(/\w+/);
  expect(textOf(events)).toMatch(/\w+/);
  const kinds = events.chunks
    .map(({ choices }) => ("reasoning_content" in (choices[0]?.delta ?? {}) ? "r" : "c"))
    .join("");
  expect(kinds).toMatch(/^c?r+c+$/);
});

test("several choices are streamed with their indexes and each has one finish", async () => {
  const { events } = await gateway.stream(customer, {
    ...hello("base-preview-v1"),
    n: 2,
    reasoning_effort: "none",
  });
  const finishes = events.chunks.flatMap(({ choices }) =>
    choices.filter(({ finish_reason }) => finish_reason !== null),
  );
  expect(finishes.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 1]);
  expect(textOf(events, 0)).not.toBe(textOf(events, 1));
});

test("an error before the first part has a real status and costs nothing", async () => {
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  const before = await gateway.balance(customer);
  const reply = await gateway.stream(customer, hello());
  expect(reply.status).toBe(502);
  expect(reply.json).toMatchObject({ error: { code: "provider_error" } });
  expect(await gateway.balance(customer)).toEqual(before);
});

/** A reset discards what has not been read yet: what came before it had time to be read. */
const PACED = { tokens_per_second: 20, completion_tokens: 200 };

test("a stream that breaks is charged for what was delivered, says so, and has no [DONE]", async () => {
  gateway.simulator.behave({ behaviour: { ...PACED, reset_after_events: 9 }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(false);
  const error = events.chunks.at(-1)?.error;
  expect(error).toMatchObject({ code: "provider_error" });
  const receipt = gatewayOf(events);
  expect(receipt.cost.evidence).toBe("delivered_tokens");
  expect(receipt.cost.output_tokens).toBeGreaterThan(0);
  expect(receipt.cost.output_tokens).toBeLessThanOrEqual(9);
  expect(Number((await gateway.request(receipt.request_id)).charge)).toBe(
    Math.round(receipt.cost.customer_charge_usd * 1e9),
  );
});

test("an upstream without usage is charged by what was delivered", async () => {
  gateway.simulator.behave({ behaviour: { no_usage: true, completion_tokens: 120 }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(gatewayOf(events).cost).toMatchObject({ evidence: "delivered_tokens", output_tokens: 120 });
  expect(events.done).toBe(true);
});

test("an upstream that ignores max_tokens is cut, and the charge stays within the hold", async () => {
  gateway.simulator.behave({ behaviour: { overrun_tokens: 3000 }, calls: 1 });
  const { events } = await gateway.stream(customer, { ...hello(), max_tokens: 60 });
  const record = await gateway.request(gatewayOf(events).request_id);
  expect(record.charge <= record.hold).toBe(true);
  expect(events.chunks.findLast(({ choices }) => choices[0]?.finish_reason)?.choices[0]?.finish_reason).toBe(
    "length",
  );
});

test("a client that leaves without a key cancels the upstream and is charged for what was delivered", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 200, completion_tokens: 4000 }, calls: 1 });
  const leaving = new AbortController();
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ ...hello(), stream: true, max_tokens: 5000 }),
  });
  const reader = response.body?.getReader();
  for (let n = 0; n < 5; n += 1) await reader?.read();
  leaving.abort();
  const id = response.headers.get("x-request-id") ?? "";
  const record = await ended(id);
  expect(record.state).toBe("settled");
  expect(record.evidence).toBe("delivered_tokens");
  const call = () => gateway.simulator.bill().findLast(({ request_id }) => request_id === id);
  await reads(async () => call()?.outcome, "cut"); // the provider hears of it after the ledger
  expect(call()?.completion_tokens).toBeLessThan(4000);
});

/** Polls the ledger until a request has ended. */
async function ended(id: string): ReturnType<TestGateway["request"]> {
  for (;;) {
    const record = await gateway.request(id);
    if (record.state !== "running") return record;
    await Bun.sleep(5);
  }
}

test("the ledger is sound afterwards", () => gateway.assertSound());
