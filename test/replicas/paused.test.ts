// A gateway that stands still for more than a second inside a transaction: PostgreSQL ends the session, so that nobody waits
// for its locks. Nothing of that batch was committed, and it runs again on another connection (money.md §7).
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { waitFor } from "../support/wait.ts";

let replicas: Replicas;
let admin: pg.Client;
beforeAll(async () => {
  replicas = await Replicas.start(1, await testPostgres());
  admin = new pg.Client({ connectionString: replicas.database.url });
  await admin.connect();
}, 120_000);
afterAll(async () => {
  await admin.end();
  await replicas.stop();
});

const HELD_MS = 1_500;
const WRITERS = "datname = current_database() AND application_name LIKE 'tollgate writer%'";

async function writersWith(what: string): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${WRITERS} AND ${what}`,
  );
  return rows[0]?.n ?? 0;
}

/** The gateway stands still from the moment on in which its batch has begun and read, until the server has had enough. */
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
    expect(await writersWith("true")).toBe(before - 1);
  } finally {
    await replicas.first.kill("SIGCONT");
  }
  return Promise.all([first, ...behind]);
}

test("a gateway that is held for 1.5 s inside a batch: its session is cut, all callers are served, each is charged once", async () => {
  const { organizationId, secret } = await replicas.first.customer();
  const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 40 };
  await replicas.first.chat(secret, ask); // every writer is warm
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
}, 60_000);
