// SIGTERM under load (money.md fault 60): no new requests, running ones finish within the grace time, the rest is cut
// and settled by evidence; the process exits 0 and nothing is held.
import { expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { ProcessGateway, type Received, untilParts } from "../support/process-gateway.ts";
import { waitFor } from "../support/wait.ts";

/** The length of an answer that is to be cut. */
const LONG_MS = 120_000;

const body = (n: number): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: `Question ${n}` }],
  max_tokens: 20,
  stream: true,
});

test("200 open streams finish, new requests are turned away, and the process exits 0", async () => {
  const gateway = await ProcessGateway.start();
  try {
    const { organizationId, secret } = await gateway.customer();
    gateway.simulator.behave({ behaviour: { tokens_per_second: 15, completion_tokens: 20 } });
    const streams = Array.from({ length: 200 }, (_, n) => gateway.chat(secret, body(n)));
    await waitFor(async () => gateway.simulator.bill().length === 200, "all streams");
    const stopping = gateway.kill("SIGTERM");
    await waitFor(async () => (await gateway.get("/readyz")).status !== 200, "the stop to begin");
    const refused = await gateway.chat(secret, body(1_000));
    expect(refused.status === 503 || refused.status === null).toBe(true);
    const finished = await Promise.all(streams);
    await stopping;
    expect(gateway.exitCode).toBe(0);
    expect(finished.filter(({ text }) => text.endsWith("data: [DONE]\n\n")).length).toBe(200);
    await gateway.run();
    expect(await soundBalance(gateway, organizationId)).toBe(chargesIn(finished));
    expect(gateway.simulator.bill().length).toBe(200);
  } finally {
    await gateway.stop();
  }
});

test("with drain_delay_ms it serves on with /readyz off, new connections too, until whoever balances has turned away", async () => {
  const gateway = await ProcessGateway.start({}, "limits: { drain_delay_ms: 8000 }");
  try {
    const { secret } = await gateway.customer();
    const stopping = gateway.kill("SIGTERM");
    await waitFor(async () => (await gateway.get("/readyz")).status === 503, "the stop to begin");
    const served = await Promise.all(
      Array.from({ length: 20 }, (_, n) => gateway.chat(secret, { ...body(n), stream: false })),
    );
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    expect((await gateway.get("/readyz")).status).toBe(503);
    await stopping;
    expect(gateway.exitCode).toBe(0);
    expect((await gateway.chat(secret, body(21))).status).toBeNull();
  } finally {
    await gateway.stop();
  }
});

test("a second signal, a second later, ends the wait: running calls are cut and settled by what was delivered", async () => {
  const gateway = await ProcessGateway.start({}, "limits: { stop_grace_ms: 60000 }");
  try {
    const { organizationId, secret } = await gateway.customer();
    gateway.simulator.behave({ behaviour: { tokens_per_second: 5, completion_tokens: 1_000 } });
    const streams = [0, 1, 2].map((n) => gateway.listen(secret, { ...body(n), max_tokens: 1_000 }));
    await untilParts(streams, 2);
    const toldAt = performance.now();
    const stopping = gateway.kill("SIGTERM");
    await waitFor(async () => (await gateway.get("/readyz")).status !== 200, "the stop to begin");
    void gateway.kill("SIGTERM"); // part of the same stop
    await Bun.sleep(1_500);
    expect(gateway.exitCode).toBeNull();
    void gateway.kill("SIGTERM");
    await stopping;
    expect([gateway.exitCode, performance.now() - toldAt < 40_000]).toEqual([0, true]);
    const cut = await Promise.all(streams.map(({ ended }) => ended));
    expect(cut.map(({ text }) => text.endsWith("data: [DONE]\n\n"))).toEqual([0, 1, 2].map(() => false));
    await gateway.run();
    const { spent_usd, held_usd } = await gateway.admin<{ spent_usd: string; held_usd: string }>(
      "GET",
      `/credits?org=${organizationId}`,
    );
    expect([held_usd, Number(spent_usd) > 0]).toEqual(["0.000000000", true]);
  } finally {
    await gateway.stop();
  }
}, 120_000);

test("what outlasts the grace time is cut and settled by evidence, keyed streams included", async () => {
  const gateway = await ProcessGateway.start({}, "limits: { stop_grace_ms: 300 }");
  try {
    const { organizationId, secret } = await gateway.customer();
    gateway.simulator.behave({ behaviour: { tokens_per_second: 10, completion_tokens: LONG_MS / 100 } });
    const long = { ...body(1), max_tokens: LONG_MS / 100 };
    const unkeyed = gateway.listen(secret, long);
    const keyed = gateway.listen(secret, long, { "idempotency-key": "outlasts-the-grace" });
    const json = gateway.chat(secret, { ...long, stream: false }, { "idempotency-key": "outlasts-as-json" });
    await waitFor(async () => gateway.simulator.bill().length === 3, "all calls");
    await untilParts([unkeyed, keyed], 2);
    const startedAtMs = performance.now();
    await gateway.kill("SIGTERM");
    expect(performance.now() - startedAtMs).toBeLessThan(LONG_MS / 3);
    expect(gateway.exitCode).toBe(0);
    for (const cut of await Promise.all([unkeyed.ended, keyed.ended, json]))
      expect(cut.text).not.toContain("[DONE]");
    await gateway.run();
    const again = await gateway.chat(secret, long, { "idempotency-key": "outlasts-the-grace" });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).toContain("The gateway stopped in the middle of the answer");
    const asJson = await gateway.chat(
      secret,
      { ...long, stream: false },
      { "idempotency-key": "outlasts-as-json" },
    );
    expect(asJson.status).toBe(502);
    expect(asJson.text).toContain("The gateway stopped before the answer was complete");
    expect(await soundBalance(gateway, organizationId)).toBeGreaterThan(chargesIn([again]));
    expect(gateway.simulator.bill().length).toBe(3);
  } finally {
    await gateway.stop();
  }
});

/** Nano-dollars spent, once nothing is held and the audit is clean. */
async function soundBalance(gateway: ProcessGateway, organizationId: string): Promise<number> {
  const balance = await gateway.admin<{ held_usd: string; spent_usd: string }>(
    "GET",
    `/credits?org=${organizationId}`,
  );
  expect(balance.held_usd).toBe("0.000000000");
  expect((await gateway.admin<{ ok: boolean }>("GET", "/ledger/audit")).ok).toBe(true);
  return nano(balance.spent_usd);
}

const nano = (usd: string): number => Math.round(Number(usd) * 1e9);

const chargesIn = (answers: readonly Received[]): number =>
  answers
    .map(({ text }) => nano([...text.matchAll(/"customer_charge_usd":([0-9.e-]+)/g)].at(-1)?.[1] ?? "0"))
    .reduce((sum, charge) => sum + charge, 0);

const WAITING_FOR_PEOPLE = `FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'tollgate people' AND wait_event_type = 'Lock'`;

test("if people cannot be opened while it is told to stop, everything else still ends: it exits 0", async () => {
  const database = await (await testPostgres()).migrated();
  const admin = new pg.Client({ connectionString: database.url });
  const gateway = await ProcessGateway.start({ DATABASE_URL: database.url });
  try {
    await admin.connect();
    await admin.query("SELECT pg_advisory_lock(hashtext('people'))");
    const session = gateway.get("/app/v1/session").catch(() => null);
    await waitFor(
      async () => (await admin.query(`SELECT 1 ${WAITING_FOR_PEOPLE}`)).rows.length === 1,
      "the opening of people",
    );
    const stopping = gateway.kill("SIGTERM");
    await Bun.sleep(1_200);
    void gateway.kill("SIGTERM");
    await Bun.sleep(300);
    await admin.query(`SELECT pg_terminate_backend(pid) ${WAITING_FOR_PEOPLE}`);
    await stopping;
    await session;
    expect(gateway.exitCode).toBe(0);
    const { rows } = await admin.query("SELECT 1 FROM instance WHERE lease_until > 0");
    expect(rows).toEqual([]); // its lease is given back
  } finally {
    await gateway.stop();
    await admin.end();
    await database.drop();
  }
}, 120_000);
