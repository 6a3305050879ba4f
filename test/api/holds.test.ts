// Credits are held before any provider is called and never go below zero (specification 1, money.md §12 faults 19–21).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { byItself } from "../../src/domain/actor.ts";
import { formatUsd, nanoUsd, ZERO_USD } from "../../src/domain/money.ts";
import type { ErrorJson } from "../support/events.ts";
import {
  type Customer,
  hello as helloTo,
  startGateway,
  STORES,
  type TestGateway,
} from "../support/gateway.ts";
import { heldBack } from "../support/held-back.ts";
import { waitFor } from "../support/wait.ts";

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

/** The hold of `hello`, quoted for a rich organization. */
async function holdOfHello(): Promise<bigint> {
  const { max_charge_usd } = await quote(await gateway.customer({ usd: "100" }), hello());
  return BigInt(max_charge_usd.replace(".", ""));
}

const withCredits = async (nano: bigint): Promise<Customer> =>
  gateway.customer({ usd: formatUsd(nanoUsd(nano)) });

test("200 requests at once on credits for exactly 7 holds: 7 are served, 193 refused, the provider saw 7", async () => {
  const hold = await holdOfHello();
  const customer = await withCredits(hold * 7n);
  const before = gateway.simulator.bill().length;
  const replies = await heldBack(gateway.simulator, { status: 402, refusals: 193 }, () =>
    Array.from({ length: 200 }, () => gateway.chat<ErrorJson>(customer, hello())),
  );
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
  const replies = await heldBack(gateway.simulator, { status: 403, refusals: 193 }, () =>
    Array.from({ length: 200 }, () => gateway.chat<ErrorJson>(customer, hello())),
  );
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

test("the hold exists while the provider works, and is gone with the answer", async () => {
  const customer = await gateway.customer();
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  const running = gateway.chat(customer, hello());
  const heldNow = async () => (await gateway.balance(customer)).held;
  await waitFor(async () => (await heldNow()) !== ZERO_USD, "its hold");
  const held = await heldNow();
  expect(held).toBe(nanoUsd(await holdOfHello()));
  gateway.simulator.behaveWell();
  const reply = await running;
  expect(reply.headers.get("x-gw-hold-usd")).toBe(formatUsd(held));
  expect((await gateway.balance(customer)).held).toBe(ZERO_USD);
});

test("usage above the hold is charged at the hold; the platform pays the rest", async () => {
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

test("a quote holds nothing, and gives exactly what the call then holds", async () => {
  const customer = await gateway.customer({ usd: "1" });
  const before = await gateway.balance(customer);
  const quoted = await quote(customer, { ...hello(), max_tokens: 200 });
  expect(await gateway.balance(customer)).toEqual(before);
  expect(quoted).toMatchObject({ admissible: true, binding_limit: null, refusal: null });
  const reply = await gateway.chat(customer, { ...hello(), max_tokens: 200 });
  expect(reply.headers.get("x-gw-hold-usd")).toBe(quoted.max_charge_usd);
});

test("a quote of a call that is too expensive names the limit and what would be affordable", async () => {
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

const PROSE = "A sentence of ordinary words takes fewer tokens than it has bytes. ".repeat(20);

for (const { name, body } of [
  { name: "a prompt by its bytes", body: { ...hello(), max_tokens: 4000 } },
  { name: "a counted prompt", body: { ...helloTo("plain-1"), max_tokens: 4000 } },
  {
    name: "a long counted prompt and three choices",
    body: {
      model: "base-preview-v1",
      n: 3,
      max_tokens: 2000,
      messages: [{ role: "user", content: PROSE }],
    },
  },
])
  test(`402 names the output maximum that is admitted right now: exactly that, no token more; ${name}`, async () => {
    for (const nano of [1_234_567n, 2_000_001n, 3_999_999n]) {
      const customer = await withCredits(nano);
      const refused = await gateway.chat<ErrorJson>(customer, body);
      expect(refused.status).toBe(402);
      const details = refused.json.error.details ?? {};
      const affordable = Number(details["affordable_max_tokens"]);
      expect(affordable).toBeGreaterThan(0);
      expect(refused.json.error.message).toContain(`max_tokens to ${affordable} or less`);
      expect(details).toMatchObject({
        available_usd: formatUsd(nanoUsd(nano)),
        held_usd: "0.000000000",
        prompt_tokens_source: body.model === "uncounted-1" ? "bytes" : "counted",
        output_tokens: body.max_tokens * ("n" in body ? body.n : 1),
      });
      const more = await gateway.chat<ErrorJson>(customer, { ...body, max_tokens: affordable + 1 });
      expect(more.json.error.details?.["affordable_max_tokens"]).toBe(affordable);
      const admitted = await gateway.chat<ErrorJson>(customer, { ...body, max_tokens: affordable });
      expect(admitted.status).toBe(200);
    }
  });

test("the affordable output is 0 if even one token is too expensive, below the minimum, and while something is owed", async () => {
  const poor = await withCredits(99_999n);
  const refused = await gateway.chat<ErrorJson>(poor, { ...helloTo("plain-1"), max_tokens: 1 });
  expect(refused.json.error.details).toMatchObject({ affordable_max_tokens: 0, required_usd: "0.000100000" });
  expect(refused.json.error.message).toContain("$0.000100000");

  const indebted = await withCredits(1_000_000n);
  const chargeback = { kind: "chargeback", target: "pi_1", source: "test", externalId: "dp_1" } as const;
  const { organizationId } = indebted;
  const amount = nanoUsd(1_000_000n);
  await gateway.chat(indebted, { ...hello(), max_tokens: 10 });
  await gateway.ledger.reverse({ organizationId, amount, ...chargeback }, byItself("test"));
  const owing = await gateway.chat<ErrorJson>(indebted, { ...hello(), max_tokens: 1 });
  expect(owing.json.error.details?.["affordable_max_tokens"]).toBe(0);
  expect(owing.json.error.details?.["debt_usd"]).toBeString();
  expect((await quote(indebted, { ...hello(), max_tokens: 1 })).affordable_max_tokens).toBe(0);
});

test("without any credits a prompt is not counted, however many arrive; with some, its figure is exact", async () => {
  const [broke, poor] = [await withCredits(0n), await withCredits(1n)];
  const sourceOf = async (customer: Customer): Promise<unknown> => {
    const refused = await gateway.chat<ErrorJson>(customer, { ...helloTo("plain-1"), max_tokens: 1 });
    expect(refused.status).toBe(402);
    return refused.json.error.details?.["prompt_tokens_source"];
  };
  expect(await sourceOf(broke)).toBe("bytes");
  expect(await sourceOf(poor)).toBe("counted");
});

test("402 beside running requests names what they hold, and counts only what is left", async () => {
  const customer = await withCredits(10_000_000n);
  gateway.simulator.behave({ behaviour: { until_well: true } });
  const running = gateway.chat(customer, { ...hello(), max_tokens: 3000 });
  await waitFor(async () => (await gateway.balance(customer)).held !== 0n, "its hold");
  const { available, held } = await gateway.balance(customer);
  const refused = await gateway.chat<ErrorJson>(customer, { ...hello(), max_tokens: 8000 });
  expect(refused.json.error.details).toMatchObject({
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
  });
  expect(refused.json.error.message).toContain(`$${formatUsd(held)} more is held by running requests`);
  const affordable = Number(refused.json.error.details?.["affordable_max_tokens"]);
  const more = await gateway.chat(customer, { ...hello(), max_tokens: affordable + 1 });
  const calls = gateway.simulator.bill().length;
  const admitted = gateway.chat(customer, { ...hello(), max_tokens: affordable });
  await waitFor(async () => gateway.simulator.bill().length > calls, "its call");
  gateway.simulator.behaveWell();
  expect([more.status, (await admitted).status, (await running).status]).toEqual([402, 200, 200]);
});

/**
 * With credits for exactly seven counted holds, and for its twin, whose prompt weighs four times as much by its
 * bytes.
 */
const LONG = {
  ...helloTo("plain-1"),
  max_tokens: 100,
  messages: [{ role: "user", content: PROSE.repeat(20) }],
};

for (const store of STORES)
  describe(`running holds on ${store}`, () => {
    let own: TestGateway;
    let exact = 0n;
    let coarse = 0n;
    beforeAll(async () => {
      own = await startGateway({ store });
      const rich = await own.customer({ usd: "100" });
      const [asked, poor] = [await own.chat(rich, LONG), await own.customer({ usd: "0.000001" })];
      coarse = nanoOf(asked.headers.get("x-gw-hold-usd") ?? "");
      const refused = await own.chat<ErrorJson>(poor, LONG);
      exact = nanoOf(String(refused.json.error.details?.["required_usd"]));
      expect(coarse > 3n * exact).toBe(true);
    });
    afterAll(async () => {
      await own.assertSound();
      await own.stop();
    });
    const on = (nano: bigint, limit?: bigint): Promise<Customer> =>
      own.customer({
        usd: formatUsd(nanoUsd(nano)),
        ...(limit !== undefined && { limitUsd: formatUsd(nanoUsd(limit)) }),
      });
    /** Nothing ends until each of them is refused or running at the provider; then everything ends. */
    async function untilDecided<T>(sent: readonly Promise<T>[], callsBefore: number): Promise<T[]> {
      let answered = 0;
      for (const one of sent) void one.then(() => (answered += 1));
      const running = (): number => own.simulator.bill().length - callsBefore;
      await waitFor(async () => answered + running() === sent.length, "each to be refused or to run");
      own.simulator.behaveWell();
      return Promise.all(sent);
    }
    async function atOnce(customer: Customer, requests: number) {
      const before = own.simulator.bill().length;
      own.simulator.behave({ behaviour: { until_well: true } });
      const sent = Array.from({ length: requests }, () => own.chat<ErrorJson>(customer, LONG));
      const replies = await untilDecided(sent, before);
      const statuses = replies.map(({ status }) => status);
      return {
        served: statuses.filter((status) => status === 200).length,
        refused: replies.filter(({ status }) => status !== 200).map(({ json }) => json.error.code),
        called: own.simulator.bill().length - before,
      };
    }

    test("credits for exactly seven counted calls serve seven of 200, never eight", async () => {
      const customer = await on(exact * 7n);
      const audits: boolean[] = [];
      let running = true;
      const auditing = (async () => {
        while (running) {
          audits.push((await own.ledger.verify()).ok);
          await Bun.sleep(100);
        }
      })();
      const { served, refused, called } = await atOnce(customer, 200);
      running = false;
      await auditing;
      expect([served, called]).toEqual([7, 7]);
      expect(new Set(refused)).toEqual(new Set(["insufficient_credits"]));
      expect(audits.every(Boolean)).toBe(true);
      expect((await own.balance(customer)).held).toBe(ZERO_USD);
    });

    test("one nano-USD less than seven serves six", async () => {
      const { served, called } = await atOnce(await on(exact * 7n - 1n), 30);
      expect([served, called]).toEqual([6, 6]);
    });

    test("earlier requests' holds by byte bound are lowered to make room for another; none is lowered if credits are ample", async () => {
      const ample = await on(coarse * 10n);
      expect((await atOnce(ample, 3)).served).toBe(3);
      const lowered = async () => (await own.rowsOf("ledger_entry")).filter((row) => isLower(row)).length;
      const before = await lowered();
      const customer = await on(coarse * 2n + exact);
      const calls = own.simulator.bill().length;
      own.simulator.behave({ behaviour: { until_well: true } });
      const first = [own.chat(customer, LONG), own.chat(customer, LONG)];
      await waitFor(async () => (await own.balance(customer)).held >= coarse * 2n, "both holds");
      expect(await lowered()).toBe(before);
      const others = Array.from({ length: 4 }, () => own.chat(customer, LONG));
      const replies = await untilDecided([...first, ...others], calls);
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
      expect(await lowered()).toBeGreaterThan(before);
    });

    test("a key's limit of seven counted calls serves seven of 200, whatever their bytes would hold", async () => {
      const customer = await on(coarse * 300n, exact * 7n);
      const { served, refused, called } = await atOnce(customer, 200);
      expect([served, called]).toEqual([7, 7]);
      expect(new Set(refused)).toEqual(new Set(["key_spend_limit_reached"]));
    });

    test("a lowered hold still caps the charge, and what is above it is the platform's", async () => {
      const customer = await on(exact * 2n);
      const calls = own.simulator.bill().length;
      own.simulator.behave({
        behaviour: { until_well: true, usage: { prompt_tokens: 100_000, completion_tokens: 100 } },
      });
      const sent = [own.chat<Served>(customer, LONG), own.chat<Served>(customer, LONG)];
      const replies = await untilDecided(sent, calls);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      const { available, spent } = await own.balance(customer);
      expect([available, spent]).toEqual([ZERO_USD, nanoUsd(exact * 2n)]);
      for (const { json } of replies) {
        const record = await own.request(json.gateway.request_id);
        expect(record.charge).toBe(record.hold);
        expect(record.variance > 0n).toBe(true);
      }
    });

    test("the holds of running streams are lowered, too", async () => {
      const customer = await on(exact * 4n);
      const calls = own.simulator.bill().length;
      own.simulator.behave({ behaviour: { until_well: true } });
      const sent = Array.from({ length: 12 }, () => own.stream(customer, { ...LONG, stream: true }));
      const replies = await untilDecided(sent, calls);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(4);
    });
  });

interface Served {
  gateway: { request_id: string };
}

const nanoOf = (usd: string): bigint => BigInt(usd.replace(".", ""));
const isLower = (row: unknown): boolean =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)).includes(
    '"lower"',
  );
