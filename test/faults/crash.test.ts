// A gateway that dies at each named point of money.md §3, and comes back: the money, the provider's bill, and what
// the retry with the same key sees. The process really dies, by SIGKILL, and the provider's bill outlives it.
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CrashPoint } from "../../src/lib/crash-point.ts";
import { readEvents } from "../support/events.ts";
import { ProcessGateway, type Received } from "../support/process-gateway.ts";
import { dropDatabases, STORE_ENVIRONMENTS } from "../support/store-environments.ts";

const KEY = { "idempotency-key": "crash-test-1" };
const FULL = "5.000000000";
const SLOW_THREADS = join(import.meta.dir, "../support/slow-threads.ts");

interface Case {
  at: CrashPoint | `${CrashPoint}:${number}`;
  stream: boolean;
  /** A slow stream lasts long enough for its progress to be stored. */
  slow?: boolean;
  /** What the simulator does with the first call. */
  behaviour?: object;
  env?: Record<string, string>;
  calls: number;
  retry: Retry;
}

type Retry = "new" | "unknown" | "answer" | "prefix";

const CASES: Case[] = [
  { at: "before_commit1", stream: false, calls: 0, retry: "new" },
  { at: "after_commit1", stream: false, calls: 0, retry: "unknown" },
  { at: "after_commit1", stream: true, calls: 0, retry: "unknown" },
  { at: "after_request_bytes", stream: false, calls: 1, retry: "unknown" },
  { at: "after_request_bytes", stream: true, calls: 1, retry: "unknown" },
  { at: "after_provider_refusal", stream: false, behaviour: { status: 503 }, calls: 1, retry: "unknown" },
  { at: "after_first_part", stream: true, calls: 1, retry: "unknown" },
  { at: "mid_stream:2", stream: true, slow: true, calls: 1, retry: "prefix" },
  // Counting may take time: what was delivered is stored meanwhile.
  {
    at: "mid_stream",
    stream: true,
    behaviour: { no_usage: true },
    env: { BUN_OPTIONS: `--preload=${SLOW_THREADS}` },
    calls: 1,
    retry: "prefix",
  },
  { at: "before_commit2", stream: false, calls: 1, retry: "unknown" },
  { at: "before_commit2", stream: true, slow: true, calls: 1, retry: "prefix" },
  { at: "after_commit2", stream: false, calls: 1, retry: "answer" },
  { at: "after_commit2", stream: true, calls: 1, retry: "answer" },
  { at: "after_last_byte", stream: true, calls: 1, retry: "answer" },
];

const named = CASES.map((one) => ({
  ...one,
  name: `${one.at}, ${one.slow ? "slow " : ""}${one.stream ? "stream" : "JSON"}`,
}));

afterAll(dropDatabases);

describe.each(Object.entries(STORE_ENVIRONMENTS))("%s", (_, environment) => {
  test.each(named)("$name: retry sees $retry", (one) => crashAndRetry(one, environment));
});

async function crashAndRetry(
  { at, stream, slow, behaviour, env: its = {}, calls, retry }: Case,
  environment: () => Promise<Record<string, string>>,
): Promise<void> {
  const env = await environment();
  const gateway = await ProcessGateway.start({ TOLLGATE_CRASH_AT: at, ...env, ...its });
  try {
    if (behaviour !== undefined) await simulate(gateway, behaviour);
    if (slow) await simulate(gateway, { tokens_per_second: 40, completion_tokens: 120 });
    const customer = await gateway.customer();
    const body = {
      model: "plain-1",
      messages: [{ role: "user", content: "Tell me something" }],
      max_tokens: 200,
      stream,
    };
    const first = await gateway.chat(customer.secret, body, KEY);
    expect(await gateway.ended()).toBe("SIGKILL");
    expect(await billedCalls(gateway)).toBe(calls);

    await gateway.run(env);
    const balance = await balanceOf(gateway, customer.organizationId);
    expect(balance.held_usd).toBe("0.000000000");
    const again = await gateway.chat(customer.secret, body, KEY);
    const spent = 5 - Number((await balanceOf(gateway, customer.organizationId)).available_usd);
    assertRetry[retry]({ first, again, spent, before: balance.available_usd });
    expect(await billedCalls(gateway)).toBe(calls + (retry === "new" ? 1 : 0));
    expect(await gateway.admin<{ ok: boolean; violations: unknown[] }>("GET", "/ledger/audit")).toMatchObject(
      {
        ok: true,
        violations: [],
      },
    );
  } finally {
    await gateway.stop();
  }
}

const LONG = {
  model: "plain-1",
  max_tokens: 100,
  messages: [
    { role: "user", content: "A sentence of ordinary words has more bytes than tokens. ".repeat(400) },
  ],
};

/** A gateway that has just started on a busy machine may answer 503 first. */
async function quoteOf(
  gateway: ProcessGateway,
  secret: string,
  body: unknown,
): Promise<{ max_charge_usd: string }> {
  for (const untilMs = performance.now() + 60_000; ; await Bun.sleep(100)) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions/quote`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) return (await answer.json()) as { max_charge_usd: string };
    const refusal = await answer.text();
    if (performance.now() > untilMs) throw new Error(`no quote: ${answer.status} ${refusal}`);
  }
}

/** Decisions before the one that lowers: PostgreSQL commits no refusals. */
const LOWERING_AT = { SQLite: 4, PostgreSQL: 2 };

describe.each(["SQLite", "PostgreSQL"] as const)("%s, while running holds are lowered", (store) => {
  test.each(["before_commit1", "after_commit1"])("%s", async (point) => {
    const env = await STORE_ENVIRONMENTS[store]();
    const at = `${point}:${LOWERING_AT[store]}`;
    const gateway = await ProcessGateway.start({ TOLLGATE_CRASH_AT: at, ...env });
    try {
      await simulate(gateway, { latency_ms: 20_000 });
      const rich = await gateway.customer();
      const quoted = await quoteOf(gateway, rich.secret, LONG);
      // Room for one by its bytes, and beside it for no other however it is counted; for more than two counted ones.
      const usd = (Number(quoted.max_charge_usd) * 1.05).toFixed(9);
      const customer = await gateway.customer(usd);
      const running = gateway.chat(customer.secret, LONG);
      while ((await billedCalls(gateway)) < 1) await Bun.sleep(5);
      await Promise.all([running, gateway.chat(customer.secret, LONG, KEY)]);
      expect(await gateway.ended()).toBe("SIGKILL");

      await gateway.run(env);
      const balance = await balanceOf(gateway, customer.organizationId);
      expect(balance).toMatchObject({ available_usd: usd, held_usd: "0.000000000" });
      expect(
        await gateway.admin<{ ok: boolean; violations: unknown[] }>("GET", "/ledger/audit"),
      ).toMatchObject({ ok: true, violations: [] });
      const list = await gateway.admin<{ data: { id: string; state: string }[] }>(
        "GET",
        `/requests?org=${customer.organizationId}`,
      );
      const held = await Promise.all(
        list.data
          .filter(({ state }) => state !== "refused")
          .map(({ id }) => gateway.admin<{ hold_usd: string }>("GET", `/requests/${id}`)),
      );
      const lowered = held.filter(({ hold_usd }) => Number(hold_usd) < Number(quoted.max_charge_usd) / 2);
      expect(lowered).toHaveLength(point === "before_commit1" ? 0 : 2);
    } finally {
      await gateway.stop();
    }
  });
});

test("a reader that got as much as was stored, or more, is told how the stream ended", async () => {
  const gateway = await ProcessGateway.start({ TOLLGATE_CRASH_AT: "mid_stream:2" });
  try {
    await simulate(gateway, { tokens_per_second: 40, completion_tokens: 400 });
    const { secret } = await gateway.customer();
    const messages = [{ role: "user", content: "Tell me something long" }];
    const body = { model: "plain-1", messages, stream: true };
    await gateway.chat(secret, body, KEY);
    await gateway.run();
    const whole = readEvents((await gateway.chat(secret, body, KEY)).text);
    const last = Number(whole.ids.at(-1));
    const after = async (id: number): Promise<string[]> =>
      readEvents((await gateway.chat(secret, body, { ...KEY, "last-event-id": String(id) })).text).ids;
    expect(await after(last - 2)).toEqual([String(last - 1), String(last)]);
    for (const seen of [last - 1, last, last + 7]) expect(await after(seen)).toEqual([String(last)]);
    expect(whole.chunks.at(-1)?.error?.code).toBe("provider_error");
  } finally {
    await gateway.stop();
  }
});

test("an unkeyed stream is charged for what was delivered until shortly before the crash", async () => {
  const gateway = await ProcessGateway.start({ TOLLGATE_CRASH_AT: "mid_stream:10" });
  try {
    await simulate(gateway, { tokens_per_second: 40, completion_tokens: 400 });
    const customer = await gateway.customer();
    const messages = [{ role: "user", content: "Tell me something long" }];
    const first = await gateway.chat(customer.secret, { model: "plain-1", messages, stream: true });
    expect(await gateway.ended()).toBe("SIGKILL");
    const received = readEvents(first.text.slice(0, first.text.lastIndexOf("\n\n"))).chunks.length;
    await gateway.run();
    const { available_usd, held_usd } = await balanceOf(gateway, customer.organizationId);
    expect(held_usd).toBe("0.000000000");
    const chargedTokens = Math.round((5 - Number(available_usd)) / 0.000_002); // prompt included
    expect(received).toBeGreaterThan(60);
    expect(chargedTokens).toBeGreaterThan(received * 0.8);
    expect(chargedTokens).toBeLessThan(received + 40);
    expect((await gateway.admin<{ ok: boolean }>("GET", "/ledger/audit")).ok).toBe(true);
  } finally {
    await gateway.stop();
  }
});

test("a crash in the middle of recovery: the next start ends what is left", async () => {
  const gateway = await ProcessGateway.start();
  try {
    await simulate(gateway, { hang: true });
    const customer = await gateway.customer();
    const ask = (n: number): Promise<Received> =>
      gateway.chat(
        customer.secret,
        { model: "plain-1", messages: [{ role: "user", content: `Question ${n}` }] },
        { "idempotency-key": `sweep-${n}-key` },
      );
    const cut = [1, 2, 3].map(ask);
    while ((await billedCalls(gateway)) < 3) await Bun.sleep(5);
    await gateway.kill();
    await Promise.all(cut);
    const died = await gateway.run({ TOLLGATE_CRASH_AT: "in_sweep" }).catch((error: Error) => error.message);
    expect(died).toContain("SIGKILL");
    await gateway.run();
    expect(await balanceOf(gateway, customer.organizationId)).toMatchObject({
      available_usd: FULL,
      held_usd: "0.000000000",
    });
    const { ok } = await gateway.admin<{ ok: boolean }>("GET", "/ledger/audit");
    expect(ok).toBe(true);
  } finally {
    await gateway.stop();
  }
});

interface Seen {
  first: Received;
  again: Received;
  spent: number;
  before: string;
}

const assertRetry: Record<Case["retry"], (seen: Seen) => void> = {
  new: ({ again, before, spent }) => {
    expect(before).toBe(FULL);
    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replayed")).toBeNull();
    expect(spent).toBeGreaterThan(0);
  },
  unknown: ({ again, before, spent }) => {
    expect(before).toBe(FULL);
    expect(spent).toBe(0);
    expect(again.status).toBe(409);
    expect(again.text).toContain("idempotency_outcome_unknown");
    expect(again.headers.get("x-should-retry")).toBe("false");
  },
  answer: ({ first, again, spent }) => {
    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text.startsWith(first.text)).toBe(true);
    expect(chargeIn(again.text)).toBeCloseTo(spent, 9);
  },
  prefix: ({ first, again, spent }) => {
    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).not.toContain("[DONE]");
    const events = readEvents(again.text);
    expect(events.ids).toEqual(events.ids.map((_, index) => String(index + 1)));
    expect(events.chunks.length).toBeGreaterThan(3);
    expect(events.chunks.at(-1)?.error?.code).toBe("provider_error");
    const prefix = again.text.slice(0, again.text.lastIndexOf("\n\nid: "));
    // The last part may have been stored, and the process killed, before it was sent: the retry then returns it, as
    // it is charged.
    const both = Math.min(prefix.length, first.text.length);
    expect(both).toBeGreaterThan(500);
    expect(first.text.slice(0, both)).toBe(prefix.slice(0, both));
    expect(chargeIn(again.text)).toBeCloseTo(spent, 9);
    expect(spent).toBeGreaterThan(0);
  },
};

const chargeIn = (text: string): number =>
  Number([...text.matchAll(/"customer_charge_usd":([0-9.e-]+)/g)].at(-1)?.[1]);

const simulate = (gateway: ProcessGateway, behaviour: object): Promise<Response> =>
  fetch(`${gateway.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });

async function billedCalls(gateway: ProcessGateway): Promise<number> {
  const bill = (await (await fetch(`${gateway.simulator.url}/_sim/ledger`)).json()) as { calls: unknown[] };
  return bill.calls.length;
}

const balanceOf = (
  gateway: ProcessGateway,
  organizationId: string,
): Promise<{ available_usd: string; held_usd: string }> =>
  gateway.admin("GET", `/credits?org=${organizationId}`);
