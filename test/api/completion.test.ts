// POST /v1/chat/completions without streaming (specification 2.2, 4; wire.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { nanoUsd, subUsd, ZERO_USD } from "../../src/domain/money.ts";
import type { GatewayJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

interface CompletionJson {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    message: { role: string; content: string | null; refusal: null; reasoning_content?: string };
    finish_reason: string;
    logprobs: null;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  gateway: GatewayJson;
}

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

test("a completion has every member of specification 2.2, and its cost is what the ledger and the provider say", async () => {
  const before = await gateway.balance(customer);
  const askedAt = Math.floor(Date.now() / 1000);
  const reply = await gateway.chat<CompletionJson>(customer, hello());
  expect(reply.status).toBe(200);
  const { json } = reply;
  expect(Object.keys(json)).toEqual(["id", "object", "created", "model", "choices", "usage", "gateway"]);
  expect(json.object).toBe("chat.completion");
  expect(json.model).toBe("plain-1");
  expect(json.choices).toHaveLength(1);
  expect(json.choices[0]?.finish_reason).toBe("stop");
  expect(json.choices[0]?.message.role).toBe("assistant");
  expect(json.choices[0]?.message.content).toMatch(/\w+/);
  expect(json.created).toBeGreaterThanOrEqual(askedAt);
  expect(json.created).toBeLessThanOrEqual(Date.now() / 1000);

  const call = gateway.simulator.bill().findLast(({ request_id }) => request_id === json.gateway.request_id);
  expect(call?.outcome).toBe("finished");
  expect(json.usage.prompt_tokens).toBe(call?.prompt_tokens ?? -1);
  expect(json.usage.completion_tokens).toBe(call?.completion_tokens ?? -1);
  expect(json.usage.total_tokens).toBe(json.usage.prompt_tokens + json.usage.completion_tokens);

  const { gateway: receipt } = json;
  expect(receipt).toEqual({
    request_id: reply.headers.get("x-request-id") ?? "",
    idempotency: {
      key: reply.headers.get("x-gw-idempotency-key") ?? "",
      caller_supplied: false,
      cross_request_replay_safe: false,
    },
    public_model: "plain-1",
    provider: "simulator",
    route: { public_model: "plain-1", provider: "simulator", region: "local", release_version: 1 },
    access: { tier: "standard", research_mode: false },
    cost: {
      input_tokens: json.usage.prompt_tokens,
      output_tokens: json.usage.completion_tokens,
      customer_charge_usd: receipt.cost.customer_charge_usd,
      currency: "USD",
      minimum_applied: true,
      evidence: "provider_usage",
      lines: [
        expect.objectContaining({ class: "input", tokens: json.usage.prompt_tokens, usd_per_million: "2" }),
        expect.objectContaining({
          class: "output",
          tokens: json.usage.completion_tokens,
          usd_per_million: "2",
        }),
        expect.objectContaining({ class: "request_minimum" }),
      ],
    },
    attempts: 1,
  });
  // At 2,000 nano-USD a token, up to 50 tokens cost less than the minimum of $0.0001.
  expect(json.usage.total_tokens).toBeLessThan(50);
  expect(receipt.cost.customer_charge_usd).toBe(0.0001);
  const after = await gateway.balance(customer);
  expect(subUsd(before.available, after.available)).toBe(nanoUsd(100_000n));
  expect(after.held).toBe(ZERO_USD);
  expect((await gateway.request(receipt.request_id)).charge).toBe(nanoUsd(100_000n));
});

test("above the minimum every token is charged at the published rates", async () => {
  gateway.simulator.behave({ behaviour: { completion_tokens: 700 }, calls: 1 });
  const { json } = await gateway.chat<CompletionJson>(customer, hello());
  expect(json.usage.completion_tokens).toBe(700);
  expect(json.gateway.cost.minimum_applied).toBe(false);
  expect(json.gateway.cost.customer_charge_usd).toBe(Number((json.usage.total_tokens * 0.000002).toFixed(9)));
});

test("the provider's ids and model name never reach the client", async () => {
  const { text, json } = await gateway.chat<CompletionJson>(customer, hello());
  expect(text).not.toContain("chatcmpl-sim");
  expect(text).not.toContain("sim-plain-1");
  expect(json.id).toBe(`chatcmpl-${json.gateway.request_id.slice(4)}`);
});

test("max_tokens bounds the answer and goes upstream", async () => {
  const { json } = await gateway.chat<CompletionJson>(customer, { ...hello(), max_tokens: 3 });
  expect(json.usage.completion_tokens).toBe(3);
  expect(json.choices[0]?.finish_reason).toBe("length");
});

test("max_completion_tokens is the same field under its newer name", async () => {
  const { json } = await gateway.chat<CompletionJson>(customer, { ...hello(), max_completion_tokens: 4 });
  expect(json.usage.completion_tokens).toBe(4);
});

test("several choices, if the release allows them, are answered and charged together", async () => {
  const { json } = await gateway.chat<CompletionJson>(customer, {
    ...hello("base-preview-v1"),
    n: 3,
    reasoning_effort: "none",
  });
  expect(json.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  const call = gateway.simulator.bill().at(-1);
  expect(json.usage.completion_tokens).toBe(call?.completion_tokens ?? -1);
});

test("content parts are read as text", async () => {
  const body = {
    model: "plain-1",
    messages: [{ role: "user", content: [{ type: "text", text: "Say hello" }] }],
  };
  expect((await gateway.chat(customer, body)).status).toBe(200);
});

test("reasoning is preserved beside the content, and counted", async () => {
  const { json } = await gateway.chat<CompletionJson>(customer, {
    ...hello("base-preview-v1"),
    reasoning_effort: "low",
  });
  expect(json.choices[0]?.message.reasoning_content).toMatch(/\w+/);
  expect(json.choices[0]?.message.content).toMatch(/\w+/);
  expect(json.usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: 8 } });
});

test("without reasoning_effort the release's default is sent", async () => {
  const { json } = await gateway.chat<CompletionJson>(customer, hello("base-preview-v1"));
  expect(json.usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: 16 } });
});

test("the ledger is sound afterwards", () => gateway.assertSound());
