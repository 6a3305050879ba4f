// Migrations of a PostgreSQL in use: each releases its tables before the next one begins, and a check on a new column
// reads no row, and holds.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type Migration, MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const LONG_MS = 4_000;
/** Two of a newer program: the first locks a table for an instant, the second takes a while. */
const NEWER: readonly Migration[] = [
  {
    version: 998,
    name: "touches requests",
    sql: "ALTER TABLE request ADD COLUMN novelty BIGINT NOT NULL DEFAULT 0 CHECK (novelty >= 0);",
  },
  {
    version: 999,
    name: "takes long",
    sql: `SELECT pg_sleep(${LONG_MS / 1000}); CREATE TABLE novelty (org_id TEXT PRIMARY KEY);`,
  },
];

let database: TestDatabase;
const clients: pg.Client[] = [];
beforeAll(async () => {
  database = await (await testPostgres()).database();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  clients.push(client);
  return client;
}

test("writers of requests wait for the migration that touches them, not for the next ones", async () => {
  const [migrating, writing] = [await connected(), await connected()];
  await migrateThen(migrating, async () => {});
  let done = false;
  const migrated = migrateThen(migrating, async () => {}, {
    migrations: [...MIGRATIONS.postgresql, ...NEWER],
  }).finally(() => {
    done = true;
  });
  let longestMs = 0;
  while (!done) {
    const askedMs = performance.now();
    await writing.query("BEGIN; LOCK TABLE request IN ROW EXCLUSIVE MODE; COMMIT");
    longestMs = Math.max(longestMs, performance.now() - askedMs);
    await Bun.sleep(1);
  }
  await migrated;
  expect(longestMs).toBeLessThan(LONG_MS / 2);
  const { rows } = await writing.query(
    "SELECT version FROM schema_migration WHERE version > 900 ORDER BY version",
  );
  expect(rows).toEqual([{ version: "998" }, { version: "999" }]);
});

test("the check of a new column was made without reading the rows, and applies to new ones", async () => {
  const client = await connected();
  const { rows } = await client.query(
    "SELECT conname AS name, convalidated AS looked FROM pg_constraint WHERE conname = 'request_novelty_check'",
  );
  expect(rows).toEqual([{ name: "request_novelty_check", looked: false }]);
  const columns = `org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
    release_digest, hold, prompt_bound, output_bound, opened_txn, novelty`;
  const values =
    "'o', 'r', 'k', 'm', 'standard', false, 'dispatched', 1, 1, 1, '2026-09', 'd', 1, 1, 1, 1, -1";
  const refused: unknown = await client
    .query(`INSERT INTO request (${columns}) VALUES (${values})`)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ constraint: "request_novelty_check" });
});
