// A rolling upgrade: gateways of this program serve while a newer one migrates the database, and afterwards. They
// settle their own requests and each other's; one that restarts is refused with what to do (money.md fault 61).
import { expect, test } from "bun:test";
import pg from "pg";
import { MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";
import { untilParts } from "../support/process-gateway.ts";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { reads, waitFor } from "../support/wait.ts";
import { untilProgressKept } from "../support/progress.ts";

/** What a newer program adds: columns and tables, as migrations may while older programs run. */
const NEWER = {
  version: 999,
  name: "of a newer program",
  sql: `ALTER TABLE request ADD COLUMN novelty TEXT;
        ALTER TABLE org_balance ADD COLUMN novelty BIGINT NOT NULL DEFAULT 0;
        ALTER TABLE ledger_entry ADD COLUMN novelty BIGINT;
        CREATE TABLE novelty (org_id TEXT PRIMARY KEY);`,
};

const WITH_NEWER = [...MIGRATIONS.postgresql, NEWER];

interface Installation {
  replicas: Replicas;
  /** A session of another user on their database. */
  client(this: void): Promise<pg.Client>;
}

/** Each test has its own gateways and database and mostly waits for them, so they run concurrently. */
async function onTwoGateways(run: (on: Installation) => Promise<void>): Promise<void> {
  const replicas = await Replicas.start(2, await testPostgres());
  const clients: pg.Client[] = [];
  const client = async (): Promise<pg.Client> => {
    const made = new pg.Client({ connectionString: replicas.database.url });
    await made.connect();
    clients.push(made);
    return made;
  };
  try {
    await run({ replicas, client });
  } finally {
    for (const made of clients) await made.end();
    await replicas.stop();
  }
}

const ask = (more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 200,
  ...more,
});

test.concurrent("a newer program migrates under traffic, behind somebody's long read: nobody waits for it, and all go on on its schema", async () => {
  await onTwoGateways(async ({ replicas, client }) => {
    const { organizationId, secret } = await replicas.first.customer();
    const answers: { status: number | null; ms: number }[] = [];
    let stop = false;
    const traffic = [0, 1, 2, 3].map(async (n) => {
      while (!stop) {
        const askedMs = performance.now();
        const { status } = await replicas.at(n).chat(secret, ask());
        answers.push({ status, ms: performance.now() - askedMs });
        await Bun.sleep(25);
      }
    });
    await waitFor(async () => answers.length >= 12, "answers before it");
    const longest = (): number => Math.max(...answers.map(({ ms }) => ms));
    const usualMs = longest(); // what a slow machine takes anyway
    // An audit or a dump: it reads the tables, and locks them until it ends.
    const reader = await client();
    await reader.query("BEGIN");
    await reader.query("SELECT count(*) FROM request");
    const migrating = migrateThen(await client(), async () => {}, { migrations: WITH_NEWER });
    await Bun.sleep(12_000);
    await reader.query("COMMIT");
    await migrating;
    const before = answers.length;
    await waitFor(async () => answers.length > before + 4, "answers on the newer schema");
    stop = true;
    await Promise.all(traffic);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(longest()).toBeLessThan(9_000 + usualMs);
    expect((await replicas.balance(organizationId)).held_usd).toBe("0.000000000");
  });
}, 240_000);

test.concurrent("on the newer schema a gateway ends what another one left, and one that restarts is refused", async () => {
  await onTwoGateways(async ({ replicas, client }) => {
    await migrateThen(await client(), async () => {}, { migrations: WITH_NEWER });
    const behaviour = { tokens_per_second: 30, completion_tokens: 200 };
    await replicas.simulate(behaviour);
    const { organizationId, secret } = await replicas.first.customer();
    const headers = { "idempotency-key": "across-schemas" };
    const doomed = replicas.at(1).listen(secret, ask({ stream: true }), headers);
    await untilParts([doomed], 20);
    await untilProgressKept(replicas.database.url);
    await replicas.at(1).kill();
    await doomed.ended;
    const refused: unknown = await replicas
      .at(1)
      .run({ DATABASE_URL: replicas.database.url, TOLLGATE_LOG_LEVEL: "error" })
      .catch((error: unknown) => error);
    expect(String(refused)).toContain("ended at its start: 1");
    expect(replicas.at(1).log).toMatch(/has schema 999, this program knows \d+; start the newer program/);
    expect(replicas.at(1).log).toContain(new URL(replicas.database.url).pathname);
    await reads(async () => (await replicas.balance(organizationId)).held_usd, "0.000000000");
    expect(Number((await replicas.balance(organizationId)).spent_usd)).toBeGreaterThan(0);
    const retry = await replicas.first.chat(secret, ask({ stream: true }), headers);
    expect([retry.status, retry.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
  });
}, 240_000);
