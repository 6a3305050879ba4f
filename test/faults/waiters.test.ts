// Callers that wait for another's request (money.md fault 57), and a chunk log that fails (fault 64).
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { overloaded } from "../../src/domain/overloaded.ts";
import { gatewayOf, readEvents } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ usd: "100" });
});
beforeEach(() => {
  gateway.simulator.behaveWell();
  gateway.simulator.behave({ behaviour: { tokens_per_second: 100, completion_tokens: 100 } });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/** A keyed stream whose client can leave; resolves once its first bytes are there. */
async function begin(key: string): Promise<{ leave(): void; rest(): Promise<string> }> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${customer.secret}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify({ ...hello(), stream: true }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? "";
  return {
    leave: () => leaving.abort(),
    rest: async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
        text += part.value;
      return text;
    },
  };
}

test("the first client leaves while a waiter stays: the waiter gets all of it", async () => {
  const before = gateway.simulator.bill().length;
  const first = await begin("first-leaves");
  const waiter = await begin("first-leaves");
  first.leave();
  const events = readEvents(await waiter.rest());
  expect(events.done).toBe(true);
  expect(gatewayOf(events).cost).toMatchObject({ output_tokens: 100, evidence: "provider_usage" });
  expect(gateway.simulator.bill().length - before).toBe(1);
});

test("a waiter leaves: the first client is not affected", async () => {
  const before = gateway.simulator.bill().length;
  const first = await begin("waiter-leaves");
  const waiter = await begin("waiter-leaves");
  waiter.leave();
  const events = readEvents(await first.rest());
  expect(events.done).toBe(true);
  expect(gatewayOf(events).cost.output_tokens).toBe(100);
  expect(gateway.simulator.bill().length - before).toBe(1);
});

test("a chunk log that cannot be written harms neither the stream, its replay nor the money", async () => {
  const { ledger } = gateway;
  const real = ledger.checkpoint.bind(ledger);
  let refused = 0;
  ledger.checkpoint = () => {
    refused += 1;
    return Promise.reject(overloaded());
  };
  try {
    const key = { "idempotency-key": "log-that-fails" };
    const stream = await gateway.stream(customer, hello(), key);
    expect(refused).toBeGreaterThan(1);
    expect(stream.events.done).toBe(true);
    expect((await gateway.stream(customer, hello(), key)).text).toBe(stream.text);
    expect(gatewayOf(stream.events).cost.evidence).toBe("provider_usage");
  } finally {
    ledger.checkpoint = real;
  }
});
