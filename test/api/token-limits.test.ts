// Token limits over HTTP: a request is refused for what it may use by an exact count, not for the bytes of its prompt or of those
// that run (docs/decisions/0103-token-limits-count-when-the-bound-refuses.md).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stoppedClock } from "../support/clock.ts";
import type { ErrorJson } from "../support/events.ts";
import { addFaces } from "../support/faces.ts";
import { type Customer, type Reply, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { MODELS, ON_EVERY_SHAPE, PLAIN, pricing, UNCOUNTED, VECTORS } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

/** Some 100 KB, 20,000 tokens. */
const LONG = "A sentence of ordinary words takes fewer tokens than it has bytes. ".repeat(1500);
const OUTPUT = 100;
const chatOf = (model: string, content = LONG) => ({
  model,
  messages: [{ role: "user", content }],
  max_tokens: OUTPUT,
});
const FREE = { ...pricing, input_per_million: "0", output_per_million: "0", request_minimum: "0" };

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  const clock = stoppedClock();
  /** What LONG may use on `plain-1`: counted, with its output. */
  let exact = 0;
  beforeAll(async () => {
    gateway = await startGateway({
      store,
      clock,
      configure: addFaces,
      models: [
        ...MODELS,
        ...ON_EVERY_SHAPE,
        VECTORS,
        { ...UNCOUNTED, model: "bytes-1", context_window: 1_000_000 },
        { ...PLAIN, model: "free-1", pricing: { ...FREE, cached_input_per_million: undefined } },
      ],
    });
    const customer = await limited({ tokens_per_minute: 30_000 });
    const quoted = await post(customer, "/v1/chat/completions/quote", chatOf("plain-1"));
    const { admissible, prompt_tokens_max } = (await quoted.json()) as QuoteJson;
    expect(admissible).toBe(true);
    exact = prompt_tokens_max + OUTPUT;
    expect(exact).toBeWithin(15_000, 30_000);
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  async function limited(limits: object, more: object = {}): Promise<Customer> {
    const customer = await gateway.customer({ usd: "1000" });
    await limit({ key: customer.keyId, ...more }, limits);
    return customer;
  }
  async function limit(of: object, limits: object): Promise<void> {
    const { status } = await gateway.admin("POST", "/limits", { ...of, ...limits });
    expect(status).toBe(200);
    clock.advance(1);
  }
  const post = async (customer: Customer, path: string, body: object): Promise<Response> => {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.secret}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });
    await reply.clone().arrayBuffer();
    return reply;
  };
  /** Nothing ends until each of them is refused or running at the provider. */
  async function atOnce<T extends { status: number }>(ask: readonly (() => Promise<T>)[]): Promise<T[]> {
    const before = gateway.simulator.bill().length;
    gateway.simulator.behave({ behaviour: { until_well: true } });
    let answered = 0;
    const sent = ask.map(async (one) => {
      const reply = await one();
      answered += 1;
      return reply;
    });
    const running = (): number => gateway.simulator.bill().length - before;
    await waitFor(async () => answered + running() === sent.length, "each to be refused or to run");
    gateway.simulator.behaveWell();
    return await Promise.all(sent);
  }
  const times = <T>(count: number, one: () => Promise<T>): (() => Promise<T>)[] =>
    Array.from({ length: count }, () => one);
  const statuses = (replies: readonly { status: number }[]): number[] => replies.map(({ status }) => status);
  const served = (replies: readonly { status: number }[]): number =>
    replies.filter(({ status }) => status === 200).length;

  test.each(["plain-1", "free-1"])(
    "a limit of exactly seven counted calls of %s serves seven of 30 at once, never eight, and tells the others when they fit",
    async (model) => {
      const limit = exact * 7 + 1; // each is rounded up to a microsecond
      const customer = await limited({ tokens_per_minute: limit });
      const replies = await atOnce(times(30, () => gateway.chat<ErrorJson>(customer, chatOf(model))));
      expect(served(replies)).toBe(7);
      const refused = replies.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(23);
      for (const { json, headers } of refused) {
        expect(json.error).toMatchObject({
          code: "rate_limit_exceeded",
          type: "tokens",
          details: { subject: "key", dimension: "tokens", limit, tokens: exact },
        });
        expect(json.error.details?.["remaining"]).toBeWithin(0, 2);
        expect(json.error.message).not.toContain("upper bound");
        expect(Number(headers.get("retry-after-ms"))).toBeWithin(8_500, 8_600);
        expect(headers.get("x-ratelimit-remaining-tokens")).toBe(String(json.error.details?.["remaining"]));
      }
    },
  );

  test("one token less than seven serves six", async () => {
    const customer = await limited({ tokens_per_minute: exact * 7 - 1 });
    expect(served(await atOnce(times(20, () => gateway.chat(customer, chatOf("plain-1")))))).toBe(6);
  });

  test("after Retry-After it fits", async () => {
    const customer = await limited({ tokens_per_minute: exact * 2 });
    const [first, second, third] = await atOnce(
      times(3, () => gateway.chat<ErrorJson>(customer, chatOf("plain-1"))),
    );
    const refused = [first, second, third].find((reply) => reply?.status === 429);
    const waitMs = Number(refused?.headers.get("retry-after-ms"));
    expect(waitMs).toBeWithin(29_000, 30_001);
    // The three have ended, and have used nearly all of their prompts: most of the limit is taken for good.
    clock.advance(waitMs);
    expect((await gateway.chat(customer, chatOf("plain-1"))).status).toBe(200);
  });

  test("what was reserved by bytes comes back from those that run, of each limit that refuses; streams, too", async () => {
    const customer = await limited({ tokens_per_minute: exact * 6 });
    const { organizationId: org, keyId: key } = customer;
    await limit({ org }, { tokens_per_minute: exact * 5 });
    await limit({ org, model: "plain-1" }, { tokens_per_minute: exact * 4 });
    await limit({ key, model: "plain-1" }, { tokens_per_minute: exact * 3 });
    const sister = await gateway.key(org);
    const replies = await atOnce<Pick<Reply, "status">>([
      ...times(5, () => gateway.stream(customer, { ...chatOf("plain-1"), stream: true })),
      ...times(1, () => gateway.chat(customer, chatOf("base-preview-v1"))),
    ]);
    expect(served(replies)).toBe(4);
    expect(replies.at(-1)?.status).toBe(200);
    clock.advance(60_000);
    expect(served(await atOnce(times(6, () => gateway.chat(sister, chatOf("plain-1")))))).toBe(4);
  });

  test.each<[path: string, of: string, body: object]>([
    ["/v1/chat/completions", "on-openai, streamed", { ...chatOf("on-openai"), stream: true }],
    ["/v1/completions", "plain-1", { model: "plain-1", prompt: LONG, max_tokens: OUTPUT }],
    ["/v1/responses", "plain-1", { model: "plain-1", input: LONG, max_output_tokens: OUTPUT }],
    ["/v1/messages", "plain-1", chatOf("plain-1")],
    ["/v1/messages", "on-claude, as it came", chatOf("on-claude")],
    ["/v1/messages", "on-gemini, streamed", { ...chatOf("on-gemini"), stream: true }],
    ["/v1/embeddings", "vectors-1", { model: VECTORS.model, input: LONG }],
  ])("two at once under a limit that they do not reach: %s of %s", async (path, _, body) => {
    const customer = await limited({ tokens_per_minute: 50_000 });
    const replies = await atOnce(times(3, () => post(customer, path, body)));
    expect(statuses(replies).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
    const refused = replies.find(({ status }) => status === 429);
    const waitMs = Number(refused?.headers.get("retry-after-ms"));
    expect(waitMs).toBeWithin(1, 20_000);
    clock.advance(waitMs);
    const next = await post(customer, path, body);
    expect([next.status, next.headers.get("x-ratelimit-limit-tokens")]).toEqual([200, "50000"]);
  });

  test("what is charged and counted stays within what is reserved, whatever the provider reports", async () => {
    const customer = await limited({ tokens_per_minute: exact * 2 });
    gateway.simulator.behave({
      behaviour: { until_well: true, usage: { prompt_tokens: 90_000, completion_tokens: OUTPUT } },
    });
    const before = gateway.simulator.bill().length;
    const sent = [
      gateway.chat<Served>(customer, chatOf("plain-1")),
      gateway.chat<Served>(customer, chatOf("plain-1")),
    ];
    await waitFor(async () => gateway.simulator.bill().length === before + 2, "both calls");
    gateway.simulator.behaveWell();
    for (const { json } of await Promise.all(sent)) {
      const { charge, hold, usage } = await gateway.request(json.gateway.request_id);
      expect(charge).toBeLessThanOrEqual(hold);
      expect(usage?.promptTokens).toBeLessThanOrEqual(exact);
    }
    const { headers } = await gateway.chat(customer, { ...chatOf("plain-1", "short"), max_tokens: 1 });
    expect(headers.get("x-ratelimit-remaining-tokens")).toBe("0");
  });

  test("a flood of prompts that no count could admit now is counted thirty times a minute, to tell when they fit; then the bound's time stands", async () => {
    const customer = await limited({ tokens_per_minute: 200_000 });
    const { sourceOf, done } = await usedUp(customer, 190_000);
    const other = await limited({ tokens_per_minute: 200_000 });
    const sources: string[] = [];
    for (let n = 0; n < 40; n += 1) sources.push(await sourceOf(customer));
    expect(sources).toEqual([
      ...Array.from({ length: 30 }, () => "counted"),
      ...Array.from({ length: 10 }, () => "bytes"),
    ]);
    const again = await usedUp(other, 190_000);
    expect(await again.sourceOf(other)).toBe("counted"); // each organization has its own
    await done();
    // What a count can admit is counted all the same.
    clock.advance(60_000);
    const replies = await atOnce(times(3, () => gateway.chat(customer, chatOf("plain-1"))));
    expect(served(replies)).toBe(3);
  });

  /** So many tokens are reserved by a running request that reserves no more than it may use. */
  async function usedUp(customer: Customer, tokens: number) {
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const before = gateway.simulator.bill().length;
    const content = "x".repeat(tokens - 8_400);
    const running = gateway.chat(customer, { ...chatOf("bytes-1", content), max_tokens: 8_000 });
    await waitFor(async () => gateway.simulator.bill().length > before, "its call");
    return {
      done: async () => {
        gateway.simulator.behaveWell();
        expect((await running).status).toBe(200);
      },
      sourceOf: async (by: Customer): Promise<string> => {
        const { status, json, headers } = await gateway.chat<ErrorJson>(by, chatOf("plain-1"));
        expect([status, headers.get("x-should-retry")]).toEqual([429, "true"]);
        const told = json.error.details?.["tokens"] === exact ? "counted" : "bytes";
        expect(json.error.message.includes("upper bound: one token for each byte")).toBe(told === "bytes");
        const waitMs = Number(headers.get("retry-after-ms"));
        if (told === "counted") expect(waitMs).toBeWithin(1, 6_000);
        else expect(waitMs).toBeWithin(20_000, 60_001);
        return told;
      },
    };
  }

  test("more than a whole minute of the limit by a count never fits, and is told so at once, whatever runs", async () => {
    const customer = await limited({ tokens_per_minute: 12_000 });
    const { done } = await usedUp(customer, 11_000);
    for (let n = 0; n < 3; n += 1) await neverFits(customer);
    await done();
    clock.advance(60_000);
    await neverFits(customer);
    async function neverFits(by: Customer): Promise<void> {
      const { status, json, headers } = await gateway.chat<ErrorJson>(by, chatOf("plain-1"));
      expect([status, headers.get("x-should-retry")]).toEqual([429, "false"]);
      expect(headers.get("retry-after")).toBeNull();
      expect(json.error.message).toContain("this request alone may use more than 12");
    }
  });
});

interface QuoteJson {
  admissible: boolean;
  prompt_tokens_max: number;
}

interface Served {
  gateway: { request_id: string };
}
