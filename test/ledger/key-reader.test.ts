// Keys are read once for a whole tick of the event loop, in their current state, and again if the connection was
// lost.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { KeyReader } from "../../src/ledger/postgres/key-reader.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { PATIENCE_MS } from "../support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-keys-"));
const DIGEST = Buffer.alloc(32, 7);
let database: TestDatabase;
let store: PostgresStore;
let client: pg.Client;
let statements = 0;
let reader: KeyReader;

beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  store = await openPostgresStore(database.url, folder);
  await store.pool.query("INSERT INTO organization (org_id, name, created_at) VALUES ('org_a', 'A', 0)");
  await store.pool.query(
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at)
     SELECT 'org_a', 'key_' || n, 'k', 'p', $1, 'standard', 0 FROM generate_series(1, 200) n`,
    [DIGEST],
  );
  reader = new KeyReader(async () => {
    client = await store.connect("keys");
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      statements += 1;
      return query(...given);
    }) as pg.Client["query"];
    return client;
  });
}, 120_000);
afterAll(async () => {
  await reader.close();
  await store.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const readAll = (keys: number): Promise<unknown[]> =>
  Promise.all(Array.from({ length: keys }, (_, n) => reader.read("org_a", `key_${n + 1}`)));

test("all reads of one tick are one statement, and each gets its own row", async () => {
  const rows = await readAll(201);
  expect(statements).toBe(1);
  expect(rows.slice(0, 200)).toEqual(
    Array.from({ length: 200 }, (_, n) => expect.objectContaining({ keyId: `key_${n + 1}`, digest: DIGEST })),
  );
  expect(rows[200]).toBeUndefined();
});

test("it is read by its index, however large the table and stale the planner's statistics", async () => {
  const connection = await store.connect("explain");
  const { rows } = await connection.query<{ "QUERY PLAN": string }>(
    `EXPLAIN SELECT k.digest FROM unnest(ARRAY['org_a'], ARRAY['key_1']) AS asked (org_id, key_id)
     JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id`,
  );
  await connection.end();
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toMatch(/Index Scan using api_key_/);
});

test("a lost connection refuses its pending reads with 503, and the next read gets a new one", async () => {
  await readAll(1);
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  await store.pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
  const answers: string[] = [];
  const endMs = performance.now() + PATIENCE_MS;
  while (answers.at(-1) !== "read" && performance.now() < endMs) {
    const code = (error: unknown): string => (error as { code: string }).code;
    answers.push(await readAll(1).then(() => "read", code));
    await Bun.sleep(20);
  }
  expect(answers.at(-1)).toBe("read");
  expect(new Set(answers.slice(0, -1)).difference(new Set(["overloaded"]))).toEqual(new Set());
});
