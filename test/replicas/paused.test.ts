// A paused gateway. For more than a second inside a transaction: PostgreSQL ends the session, so that nobody waits
// for its locks; nothing of that batch was committed, and it runs again on another connection (money.md §7). For
// longer than its lease while its hold is committed: a request that others have ended meanwhile is not sent (money.md
// §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { reads, waitFor } from "../support/wait.ts";

let replicas: Replicas;
let admin: pg.Client;
beforeAll(async () => {
  replicas = await Replicas.start(2, await testPostgres());
  admin = new pg.Client({ connectionString: replicas.database.url });
  await admin.connect();
}, 120_000);
afterAll(async () => {
  await admin.end();
  await replicas.stop();
});

const HELD_MS = 1_500;
/** A little more than a lease. */
const LEASE_LOST_MS = 10_500;
const WRITERS = "datname = current_database() AND application_name LIKE 'tollgate writer%'";

async function writersWith(what: string): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${WRITERS} AND ${what}`,
  );
  return rows[0]?.n ?? 0;
}

/** The gateway is paused once its batch has begun and read, until the server ends its session. */
async function heldInsideItsBatch<T>(organizationId: string, call: () => Promise<T>): Promise<T[]> {
  const balance = "SELECT 1 FROM org_balance WHERE org_id = $1 FOR UPDATE";
  await admin.query("BEGIN");
  await admin.query(balance, [organizationId]);
  const first = call();
  await waitFor(async () => (await writersWith("wait_event_type = 'Lock'")) === 1, "a batch at the lock");
  const behind = [call(), call(), call()];
  await Bun.sleep(300); // they wait for the next batch
  await replicas.first.kill("SIGSTOP");
  try {
    const before = await writersWith("true");
    await admin.query("COMMIT");
    await waitFor(async () => (await writersWith("state = 'idle in transaction'")) === 1, "it to have read");
    await Bun.sleep(HELD_MS);
    await reads(() => writersWith("true"), before - 1);
  } finally {
    await replicas.first.kill("SIGCONT");
  }
  return Promise.all([first, ...behind]);
}

test("a gateway that is held for 1.5 s inside a batch: its session is cut, all callers are served, each is charged once", async () => {
  const { organizationId, secret } = await replicas.first.customer();
  const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 40 };
  await replicas.first.chat(secret, ask); // every writer is warmed up
  const calls = await replicas.calls();
  let nth = 0;
  const call = async (): Promise<number | null> => {
    nth += 1;
    return (await replicas.first.chat(secret, ask, { "idempotency-key": `paused-${nth}` })).status;
  };
  expect(await heldInsideItsBatch(organizationId, call)).toEqual([200, 200, 200, 200]);
  expect(await replicas.calls()).toBe(calls + 4);
  expect((await replicas.balance(organizationId)).held_usd).toBe("0.000000000");
  expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
}, 120_000);

const WAITS = "wait_event_type = 'Lock'";

test("a gateway that is held for longer than its lease while its hold is committed: another ends the request, nothing is sent", async () => {
  const { organizationId, secret } = await replicas.first.customer();
  const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 40 };
  const key = { "idempotency-key": "held-while-it-commits" };
  await replicas.first.chat(secret, ask);
  const calls = await replicas.calls();
  const before = await replicas.balance(organizationId);
  await admin.query("BEGIN");
  await admin.query("LOCK TABLE ledger_entry IN SHARE MODE"); // what is written last except for the balance
  const asked = replicas.first.chat(secret, ask, key);
  await waitFor(async () => (await writersWith(WAITS)) === 1, "its hold at the lock");
  await replicas.first.kill("SIGSTOP");
  try {
    await admin.query("COMMIT");
    await waitFor(async () => (await writersWith("state <> 'idle'")) === 0, "its commit");
    await Bun.sleep(LEASE_LOST_MS);
    const { rows } = await admin.query(
      "UPDATE instance SET condemned = true WHERE lease_until < (extract(epoch FROM clock_timestamp()) * 1000)::bigint RETURNING epoch",
    );
    expect(rows).toHaveLength(1);
    await waitFor(
      async () => (await admin.query("SELECT 1 FROM request WHERE closed_txn IS NULL")).rows.length === 0,
      "its end by the other gateway",
    );
  } finally {
    await replicas.first.kill("SIGCONT");
  }
  expect((await asked).status).toBe(503);
  expect(await replicas.calls()).toBe(calls);
  expect(await replicas.balance(organizationId)).toEqual(before);
  const again = await replicas.at(1).chat(secret, ask, key);
  expect([again.status, again.headers.get("x-should-retry")]).toEqual([409, "false"]);
  expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
}, 120_000);
