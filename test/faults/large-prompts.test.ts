// Memory for prompts: a large body is in memory until its request is settled, so it occupies its share until then,
// whatever its provider does; an organization that takes too much is told to come back, and others are served.
import { expect, test } from "bun:test";
import { SMALL_BODY_BYTES } from "../../src/limits/uploads.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, VECTORS } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

const BODY_BYTES = 128 * 1024;
/** Two of them are a quarter of the total. */
const LARGE = {
  model: "uncounted-1",
  max_tokens: 10,
  messages: [{ role: "user", content: "a".repeat(100_000) }],
};

async function within(run: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway({
    configure: (config) =>
      Object.assign(config.limits, { bodyBytes: BODY_BYTES, promptBytes: 8 * BODY_BYTES }),
  });
  try {
    await run(gateway);
    await gateway.assertSound();
  } finally {
    await gateway.stop();
  }
}

const running = ({ simulator }: TestGateway): number =>
  simulator.bill().filter(({ outcome }) => outcome === "running").length;

test("large bodies of requests that run are bounded: 429 for whoever has too many, others are served, until they are settled", async () => {
  await within(async (gateway) => {
    const [one, other] = [await gateway.customer({ usd: "100" }), await gateway.customer({ usd: "100" })];
    const ask = (customer: Customer, stream = false) =>
      gateway.chat<ErrorJson>(customer, { ...LARGE, stream });
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const hanging = [ask(one), ask(one, true), ask(other)];
    await waitFor(async () => running(gateway) === 3, "three that run");
    const refused = await ask(one);
    expect([refused.status, refused.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    gateway.simulator.behaveWell();
    expect(
      (await gateway.chat(one, { ...LARGE, messages: [{ role: "user", content: "small" }] })).status,
    ).toBe(200);
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const customer of [one, one, one]) expect((await ask(customer)).status).toBe(200);
  });
}, 120_000);

test("a refused request, a quote and a replay release their memory", async () => {
  await within(async (gateway) => {
    const [rich, poor] = [await gateway.customer({ usd: "100" }), await gateway.customer({ usd: "0.01" })];
    const key = { "idempotency-key": "large-prompt-1" };
    for (let n = 0; n < 5; n += 1) {
      expect((await gateway.chat(poor, LARGE)).status).toBe(402);
      expect((await gateway.chat(rich, { ...LARGE, nonsense: 1 })).status).toBe(400);
      expect((await gateway.chat(rich, LARGE, key)).status).toBe(200);
      const quote = await fetch(`${gateway.baseUrl}/chat/completions/quote`, {
        method: "POST",
        headers: { authorization: `Bearer ${rich.secret}`, "content-type": "application/json" },
        body: JSON.stringify(LARGE),
      });
      expect(quote.status).toBe(200);
    }
  });
}, 120_000);

function manyMessages(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: "x",
  }));
}

/** About 50 KB of text in 1,500 messages: 170 KB of memory in thirds, of 256 that an organization has. */
const MANY = {
  model: "uncounted-1",
  max_tokens: 10,
  messages: manyMessages(1_500),
};

/** Some 68 KB of text, which is a large body, in 2,100 messages: 236 KB of memory in thirds. */
const MORE = { ...MANY, messages: manyMessages(2_100) };

test.each([
  ["a body of many small values has room by what it becomes, not by its text", MANY],
  ["so has a large one", MORE],
])(
  "%s",
  async (_, body) => {
    expect(JSON.stringify(body).length > SMALL_BODY_BYTES).toBe(body === MORE);
    await within(async (gateway) => {
      const [one, other] = [await gateway.customer({ usd: "100" }), await gateway.customer({ usd: "100" })];
      const ask = (customer: Customer) => gateway.chat<ErrorJson>(customer, body);
      gateway.simulator.behave({ behaviour: { until_well: true } });
      const hanging = [ask(one), ask(other)];
      await waitFor(async () => running(gateway) === 2, "two that run");
      const refused = await ask(one);
      expect([refused.status, refused.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
      gateway.simulator.behaveWell();
      expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200]);
      expect((await ask(one)).status).toBe(200);
    });
  },
  120_000,
);

test("one that becomes larger than an organization's share is served alone", async () => {
  await within(async (gateway) => {
    const one = await gateway.customer({ usd: "100" });
    const messages = manyMessages(2_600); // 290 KB of 256
    for (let n = 0; n < 3; n += 1) {
      const { status, json } = await gateway.chat<ErrorJson>(one, { ...MANY, messages });
      expect([status, json]).toEqual([200, expect.anything()]);
    }
  });
}, 120_000);

test("more values than any body may have are refused unread on every surface, and hold nothing", async () => {
  const gateway = await startGateway({ models: [...MODELS, VECTORS] });
  try {
    const customer = await gateway.customer();
    const paths = [
      "chat/completions",
      "chat/completions/quote",
      "completions",
      "messages",
      "messages/count_tokens",
      "responses",
      "responses/input_tokens",
      "embeddings",
    ];
    for (const path of paths)
      for (const body of [
        `{"model":"plain-1","messages":[${"{},".repeat(250_000)}{}]}`,
        `{${'"":0,'.repeat(250_001)}"":0}`,
      ]) {
        const answer = await fetch(`${gateway.baseUrl}/${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
          body,
        });
        const text = await answer.text();
        expect([path, answer.status]).toEqual([path, 400]);
        expect(text).toContain("more than 250000 fields, or 500000 values");
      }
    expect(gateway.simulator.bill()).toEqual([]);
    await gateway.assertSound();
  } finally {
    await gateway.stop();
  }
}, 120_000);
