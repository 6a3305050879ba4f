// Credits are held before any provider is called and never go below zero (specification 1, money.md §12 faults 19–21).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatUsd, nanoUsd, ZERO_USD } from "../../src/contract/money.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello as helloTo, startGateway, type TestGateway } from "../support/gateway.ts";

const hello = (): ReturnType<typeof helloTo> => helloTo("uncounted-1");
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface QuoteJson {
  admissible: boolean;
  binding_limit: string | null;
  max_charge_usd: string;
  affordable_max_tokens: number;
  refusal: { status: number; code: string } | null;
}

const quote = async (customer: Customer, body: object): Promise<QuoteJson> => {
  const reply = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return (await reply.json()) as QuoteJson;
};

/** What `hello` holds: asked from a rich organization. */
async function holdOfHello(): Promise<bigint> {
  const { max_charge_usd } = await quote(await gateway.customer({ usd: "100" }), hello());
  return BigInt(max_charge_usd.replace(".", ""));
}

const withCredits = async (nano: bigint): Promise<Customer> =>
  gateway.customer({ usd: formatUsd(nanoUsd(nano)) });

test("200 requests at once on credits for exactly 7 holds: 7 are served, 193 refused, the provider saw 7", async () => {
  const hold = await holdOfHello();
  const customer = await withCredits(hold * 7n);
  gateway.simulator.behave({ behaviour: { latency_ms: 150 } });
  const before = gateway.simulator.bill().length;
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => gateway.chat<ErrorJson>(customer, hello())),
  );
  gateway.simulator.behaveWell();
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
  const refused = replies.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(193);
  expect(refused.every(({ json }) => json.error.code === "insufficient_credits")).toBe(true);
  expect(gateway.simulator.bill().length - before).toBe(7);
  const balance = await gateway.balance(customer);
  expect(balance.available > 0n).toBe(true);
  expect(balance.held).toBe(ZERO_USD);
});

test("200 requests at once under a limit of 6.5 holds: 7 are served, and the refused touch no credits", async () => {
  const hold = await holdOfHello();
  const customer = await gateway.customer({ usd: "100", limitUsd: formatUsd(nanoUsd((hold * 13n) / 2n)) });
  gateway.simulator.behave({ behaviour: { latency_ms: 150 } });
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => gateway.chat<ErrorJson>(customer, hello())),
  );
  gateway.simulator.behaveWell();
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(
    replies.filter(({ status, json }) => status === 403 && json.error.code === "key_spend_limit_reached"),
  ).toHaveLength(193);
  expect((await gateway.balance(customer)).spent).toBe(nanoUsd(7n * 100_000n));
});

test("credits of exactly the hold admit; one nano-USD less does not", async () => {
  const hold = await holdOfHello();
  expect((await gateway.chat(await withCredits(hold), hello())).status).toBe(200);
  const poor = await withCredits(hold - 1n);
  const calls = gateway.simulator.bill().length;
  const reply = await gateway.chat<ErrorJson>(poor, hello());
  expect(reply.status).toBe(402);
  expect(reply.json.error).toMatchObject({
    code: "insufficient_credits",
    type: "billing_error",
    details: { required_usd: formatUsd(nanoUsd(hold)), available_usd: formatUsd(nanoUsd(hold - 1n)) },
  });
  expect(reply.headers.get("x-should-retry")).toBe("false");
  expect(reply.headers.get("retry-after")).toBeNull();
  expect(gateway.simulator.bill()).toHaveLength(calls);
});

test("the hold is there while the provider works, and gone with the answer", async () => {
  const customer = await gateway.customer();
  gateway.simulator.behave({ behaviour: { latency_ms: 200 }, calls: 1 });
  const running = gateway.chat(customer, hello());
  let held = ZERO_USD;
  while (held === ZERO_USD) {
    held = (await gateway.balance(customer)).held;
    await Bun.sleep(2);
  }
  expect(held).toBe(nanoUsd(await holdOfHello()));
  const reply = await running;
  expect(reply.headers.get("x-gw-hold-usd")).toBe(formatUsd(held));
  expect((await gateway.balance(customer)).held).toBe(ZERO_USD);
});

test("usage above the hold is charged at the hold; the house pays the rest", async () => {
  const customer = await gateway.customer();
  gateway.simulator.behave({
    behaviour: { usage: { prompt_tokens: 50_000, completion_tokens: 9000 } },
    calls: 1,
  });
  const { json } = await gateway.chat<{ gateway: { request_id: string } }>(customer, {
    ...hello(),
    max_tokens: 100,
  });
  const record = await gateway.request(json.gateway.request_id);
  expect(record.charge).toBe(record.hold);
  expect(record.variance > 0n).toBe(true);
});

test("a quote holds nothing, and says exactly what the call then holds", async () => {
  const customer = await gateway.customer({ usd: "1" });
  const before = await gateway.balance(customer);
  const quoted = await quote(customer, { ...hello(), max_tokens: 200 });
  expect(await gateway.balance(customer)).toEqual(before);
  expect(quoted).toMatchObject({ admissible: true, binding_limit: null, refusal: null });
  const reply = await gateway.chat(customer, { ...hello(), max_tokens: 200 });
  expect(reply.headers.get("x-gw-hold-usd")).toBe(quoted.max_charge_usd);
});

test("a quote of a call that is too dear names the limit and what would be affordable", async () => {
  const customer = await gateway.customer({ usd: "0.001" });
  const quoted = await quote(customer, hello());
  expect(quoted).toMatchObject({
    admissible: false,
    binding_limit: "credits",
    refusal: { status: 402, code: "insufficient_credits" },
  });
  expect(quoted.affordable_max_tokens).toBeGreaterThan(0);
  const affordable = { ...hello(), max_tokens: quoted.affordable_max_tokens };
  expect((await quote(customer, affordable)).admissible).toBe(true);
  expect(
    (await quote(customer, { ...hello(), max_tokens: quoted.affordable_max_tokens + 1 })).admissible,
  ).toBe(false);
  expect((await gateway.chat(customer, affordable)).status).toBe(200);
});
