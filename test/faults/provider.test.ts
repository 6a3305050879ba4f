// What providers do wrong (wire.md §8.3, money.md §12 faults 41–55), and what it costs: nothing without delivery,
// never more than one call on the provider's bill.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import { countTokens } from "../../src/pricing/tokens.ts";
import { type ErrorJson, gatewayOf, textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      for (const provider of config.providers) {
        // Short, but longer than a slow machine takes for an answer that does come.
        provider.timeouts = { connectMs: 2_000, firstTokenMs: 1_500, idleMs: 1_500, totalMs: 8_000 };
        provider.health = { ...provider.health, openAfterFailures: 1000 };
      }
      config.limits.firstPartWaitMs = 4_000;
      config.limits.answerTimeoutMs = 6_000;
    },
  });
  customer = await gateway.customer({ usd: "100" });
  await countTokens(["loaded before the short timeouts count"], "o200k_base", {
    organizationId: "org_test",
    lane: "settlement",
  });
});
beforeEach(() => gateway.simulator.behaveWell());
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface Fault {
  does: string;
  behaviour: Behaviour;
  status: number;
  code: string;
  retry: boolean;
}

const FAULTS: readonly Fault[] = [
  {
    does: "429",
    behaviour: { status: 429, retry_after_s: 7 },
    status: 502,
    code: "provider_error",
    retry: true,
  },
  { does: "503", behaviour: { status: 503 }, status: 502, code: "provider_error", retry: true },
  { does: "529", behaviour: { status: 529 }, status: 502, code: "provider_error", retry: true },
  {
    does: "400 about the context",
    behaviour: { status: 400, error_code: "context_length_exceeded" },
    status: 400,
    code: "context_length_exceeded",
    retry: false,
  },
  {
    does: "400 for policy",
    behaviour: { status: 400, error_code: "content_filter" },
    status: 400,
    code: "content_filter",
    retry: false,
  },
  { does: "400", behaviour: { status: 400 }, status: 502, code: "provider_error", retry: false },
  { does: "404", behaviour: { status: 404 }, status: 502, code: "provider_error", retry: false },
  { does: "408", behaviour: { status: 408 }, status: 502, code: "provider_error", retry: false },
  { does: "424", behaviour: { status: 424 }, status: 502, code: "provider_error", retry: false },
  { does: "500", behaviour: { status: 500 }, status: 502, code: "provider_error", retry: false },
  { does: "502", behaviour: { status: 502 }, status: 502, code: "provider_error", retry: false },
  {
    does: "a redirect",
    behaviour: { status: 302, location: "http://169.254.169.254/" },
    status: 502,
    code: "provider_error",
    retry: false,
  },
  {
    does: "an HTML page with 200",
    behaviour: { garbage: "html" },
    status: 502,
    code: "provider_error",
    retry: false,
  },
  {
    does: "half a JSON document with 200",
    behaviour: { garbage: "json" },
    status: 502,
    code: "provider_error",
    retry: false,
  },
  {
    does: "a reset before the headers",
    behaviour: { reset_before_headers: true },
    status: 502,
    code: "provider_error",
    retry: false,
  },
  {
    does: "no headers at all",
    behaviour: { hang: true },
    status: 504,
    code: "provider_timeout",
    retry: false,
  },
];

for (const stream of [false, true]) {
  test.each(FAULTS.map((fault) => [fault.does, fault] as const))(
    `${stream ? "streamed" : "whole"}: %s costs nothing and is called once`,
    async (_, { behaviour, status, code, retry }) => {
      gateway.simulator.behave({ behaviour, calls: 1 });
      const before = await gateway.balance(customer);
      const calls = gateway.simulator.bill().length;
      const reply = await gateway.chat<ErrorJson>(customer, { ...hello(), stream });
      expect([reply.status, reply.json.error.code]).toEqual([status, code]);
      expect(reply.headers.get("x-should-retry")).toBe(String(retry));
      expect(reply.json.error.message).not.toContain("ordered by the test");
      expect(await gateway.balance(customer)).toEqual(before);
      expect(gateway.simulator.bill().length - calls).toBe(1);
    },
  );
}

test("the provider's Retry-After is passed on, at most 60 s", async () => {
  gateway.simulator.behave({ behaviour: { status: 429, retry_after_s: 7 }, calls: 1 });
  expect((await gateway.chat(customer, hello())).headers.get("retry-after")).toBe("7");
  gateway.simulator.behave({ behaviour: { status: 429, retry_after_s: 600 }, calls: 1 });
  expect((await gateway.chat(customer, hello())).headers.get("retry-after")).toBe("60");
});

test("an error body inside a 200 is never billed as an answer", async () => {
  gateway.simulator.behave({ behaviour: { error_in_body: true }, calls: 1 });
  const before = await gateway.balance(customer);
  expect((await gateway.chat(customer, hello())).status).toBe(502);
  expect(await gateway.balance(customer)).toEqual(before);
});

test.each([0, 1])(
  "an error as event %d, before any content, has a real status and costs nothing",
  async (error_after_events) => {
    gateway.simulator.behave({ behaviour: { error_after_events }, calls: 1 });
    const before = await gateway.balance(customer);
    const reply = await gateway.stream(customer, hello());
    expect(reply.status).toBe(502);
    expect(await gateway.balance(customer)).toEqual(before);
  },
);

test("silence in mid-stream ends in an error event, charged for what was delivered", async () => {
  gateway.simulator.behave({ behaviour: { hang_after_events: 6, completion_tokens: 100 }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(false);
  const error = events.chunks.at(-1)?.error;
  expect(error?.code).toBe("provider_timeout");
  expect(error?.message).toContain("were charged");
  expect(error?.message).not.toMatch(/nothing was charged/i);
  expect(gatewayOf(events).cost).toMatchObject({ evidence: "delivered_tokens", output_tokens: 5 });
});

test("a stream that ends without a finish is broken, however cleanly it ends", async () => {
  gateway.simulator.behave({ behaviour: { no_finish: true }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(false);
  expect(gatewayOf(events).cost.evidence).toBe("delivered_tokens");
});

test("what comes after [DONE] is ignored", async () => {
  gateway.simulator.behave({ behaviour: { after_done: true }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(events.done).toBe(true);
  expect(textOf(events)).not.toContain("late");
});

test("doubled events do no harm beyond their doubled text, and the charge stays within the hold", async () => {
  gateway.simulator.behave({ behaviour: { duplicate_events: true }, calls: 1 });
  const { events } = await gateway.stream(customer, hello());
  expect(
    events.chunks.filter(({ choices }) => choices[0]?.finish_reason !== null && choices.length > 0),
  ).toHaveLength(1);
  const record = await gateway.request(gatewayOf(events).request_id);
  expect(record.charge <= record.hold).toBe(true);
});

test("an explicit usage of zero beside no text is charged the request minimum", async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 0 };
  gateway.simulator.behave({ behaviour: { usage, text: "" }, calls: 1 });
  const { json } = await gateway.chat<{ gateway: { cost: object } }>(customer, hello());
  expect(json.gateway.cost).toMatchObject({
    customer_charge_usd: 0.0001,
    minimum_applied: true,
    evidence: "provider_usage",
  });
});
