// Concurrency limits count unsettled calls, whether or not anybody still listens: a keyed stream whose client has
// left continues (money.md §4), and costs.
import { expect, test } from "bun:test";
import { type Customer, hello, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { watchWaiters } from "../support/waiters.ts";
import { allOrganizations } from "../../src/registry/organizations.ts";

const AT_MOST = 5;
const STREAMS = 80;

const running = ({ simulator }: TestGateway): number =>
  simulator.bill().filter(({ outcome }) => outcome === "running").length;

/** With streams of two seconds. Each test has its own gateway and mostly waits for it, so they run concurrently. */
async function within(limits: object, run: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway({ configure: (config) => Object.assign(config.limits, limits) });
  gateway.simulator.behave({ behaviour: { tokens_per_second: 50, completion_tokens: 100 } });
  try {
    await run(gateway);
    await waitFor(async () => running(gateway) === 0, "the end of all streams");
    for (const { id } of await allOrganizations(gateway.ledger))
      await waitFor(async () => (await gateway.ledger.balance(id))?.held === 0n, "all holds to end");
    await gateway.assertSound();
  } finally {
    await gateway.stop();
  }
}

/** A keyed stream whose client leaves with its first bytes; returns the status and headers it saw. */
async function beginAndLeave(
  gateway: TestGateway,
  { secret }: Customer,
  key: string,
): Promise<Pick<Response, "status" | "headers">> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify({ ...hello(), stream: true }),
  });
  await response.body?.getReader().read();
  leaving.abort();
  return response;
}

interface Left {
  statuses: number[];
  /** The most concurrent upstream calls. */
  most: number;
  retryAfter: Set<string | null>;
}

/** Begins eighty streams, a few at a time, each left at once. */
async function leaveInBulk(gateway: TestGateway, whose: (n: number) => Customer): Promise<Left> {
  const statuses: number[] = [];
  const retryAfter = new Set<string | null>();
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, running(gateway))), 1);
  for (let n = 0; n < STREAMS; n += 4) {
    const begun = Array.from({ length: 4 }, (_, i) =>
      beginAndLeave(gateway, whose(n + i), `left-at-once-${n + i}`),
    );
    for (const { status, headers } of await Promise.all(begun)) {
      statuses.push(status);
      if (status !== 200) retryAfter.add(headers.get("retry-after"));
    }
  }
  clearInterval(watching);
  return { statuses, most, retryAfter };
}

const statusesOf = ({ statuses }: Left): Set<number> => new Set(statuses);

test.concurrent("80 keyed streams that are left at once never run more calls than the process may: 503 with a time to come back", async () => {
  await within({ maxConcurrent: AT_MOST }, async (gateway) => {
    const customers = await Promise.all(Array.from({ length: 8 }, () => gateway.customer({ usd: "50" })));
    const left = await leaveInBulk(gateway, (n) => customers[n % 8] as Customer);
    expect(left.most).toBeLessThanOrEqual(AT_MOST);
    expect(statusesOf(left)).toEqual(new Set([200, 503]));
    expect(left.retryAfter).toEqual(new Set(["1"]));
  });
}, 120_000);

test.concurrent("a key that leaves its streams never runs more calls than it may: 429, and other keys are served", async () => {
  await within({ keyConcurrent: AT_MOST }, async (gateway) => {
    const customer = await gateway.customer({ usd: "50" });
    const left = await leaveInBulk(gateway, () => customer);
    expect(left.most).toBeLessThanOrEqual(AT_MOST);
    expect(statusesOf(left)).toEqual(new Set([200, 429]));
    expect(left.retryAfter).toEqual(new Set(["1"]));
    expect((await gateway.chat(await gateway.key(customer.organizationId), hello())).status).toBe(200);
  });
}, 120_000);

test.concurrent("an organization's keys together never run more calls than it may: 429, and others are served", async () => {
  await within({ organizationConcurrent: AT_MOST }, async (gateway) => {
    const customer = await gateway.customer({ usd: "50" });
    const keys = await Promise.all(Array.from({ length: 8 }, () => gateway.key(customer.organizationId)));
    const left = await leaveInBulk(gateway, (n) => keys[n % 8] as Customer);
    expect(left.most).toBeLessThanOrEqual(AT_MOST);
    expect(statusesOf(left)).toEqual(new Set([200, 429]));
    expect((await gateway.chat(await gateway.customer(), hello())).status).toBe(200);
  });
}, 120_000);

test.concurrent("room is there again as soon as running calls are settled, and after refusals of every kind", async () => {
  await within({ keyConcurrent: 1 }, async (gateway) => {
    const customer = await gateway.customer({ usd: "50" });
    await beginAndLeave(gateway, customer, "the-only-one-of-it");
    expect((await gateway.chat(customer, hello())).status).toBe(429);
    await waitFor(async () => (await gateway.balance(customer)).held === 0n, "the stream to end");
    gateway.simulator.behaveWell();
    expect((await gateway.chat(customer, hello())).status).toBe(200);
    for (const body of ["{", { ...hello(), model: "nothing" }, { ...hello(), max_tokens: 2 ** 31 }])
      expect((await gateway.chat(customer, body)).status).toBeGreaterThanOrEqual(400);
    const { ledger } = gateway;
    const real = ledger.admit.bind(ledger);
    ledger.admit = () => Promise.reject(new Error("a bug"));
    expect((await gateway.chat(customer, hello())).status).toBe(500);
    ledger.admit = real;
    gateway.simulator.behave({ behaviour: { status: 400 }, calls: 2 });
    expect((await gateway.chat(customer, hello())).status).toBe(502);
    expect((await gateway.stream(customer, hello())).status).toBe(502);
    expect((await gateway.chat(customer, hello())).status).toBe(200);
  });
}, 120_000);

test.concurrent("a caller that waits for another request takes no place, and gets its answer when there is none", async () => {
  await within({ maxConcurrent: 2 }, async (gateway) => {
    const customer = await gateway.customer({ usd: "50" });
    gateway.simulator.behaveWell();
    gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
    using waiters = watchWaiters();
    const same = (): Promise<Reply> => gateway.chat(customer, hello(), { "idempotency-key": "one-of-many" });
    const first = same();
    await waitFor(async () => running(gateway) === 1, "the first call");
    const duplicates: Promise<Reply>[] = [];
    for (let n = 0; n < 6; n += 1) {
      duplicates.push(same());
      await waitFor(async () => waiters.count() === n + 1, "it to have asked the ledger, which it does last");
    }
    expect((await gateway.chat(await gateway.customer(), hello())).status).toBe(200);
    gateway.simulator.behaveWell();
    const { text } = await first;
    const replies = await Promise.all(duplicates);
    expect(replies.map((reply) => [reply.status, reply.text])).toEqual(replies.map(() => [200, text]));
  });
}, 120_000);
