// The audit log gets new columns while older gateways keep writing: their lines, before and after, have no values
// there.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import pg from "pg";
import { migrate } from "../../src/store/migrate.ts";
import { type Migration, MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";
import { testPostgres } from "../support/postgres.ts";

const older = (migrations: readonly Migration[]): Migration[] =>
  migrations.filter(({ version }) => version < 9);
const OLD_LINE =
  "INSERT INTO audit_log (at, actor, action, target) VALUES (1, 'older', 'key.create', 'key_1')";
const NEW_LINE = `INSERT INTO audit_log (at, actor, address, request_id, action, target)
  VALUES (2, 'newer', '203.0.113.4', 'req_1', 'key.create', 'key_2')`;
const READ = "SELECT actor, address, request_id FROM audit_log ORDER BY at";
const BARE = { actor: "older", address: null, request_id: null };
const LINES = [BARE, BARE, { actor: "newer", address: "203.0.113.4", request_id: "req_1" }];

test("on SQLite", () => {
  const database = new Database(":memory:");
  migrate(database, { migrations: older(MIGRATIONS.sqlite) });
  database.run(OLD_LINE);
  migrate(database);
  for (const line of [OLD_LINE, NEW_LINE]) database.run(line);
  expect(database.query(READ).all()).toEqual(LINES);
  expect(() => database.run("UPDATE audit_log SET address = 'x'")).toThrow(/append-only/);
  expect(() => database.run("DELETE FROM audit_log")).toThrow(/append-only/);
});

test("on PostgreSQL, where older gateways keep serving meanwhile", async () => {
  const database = await (await testPostgres()).database();
  const connected = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return client;
  };
  const [ours, theirs] = [await connected(), await connected()];
  await migrateThen(ours, async () => {}, { migrations: older(MIGRATIONS.postgresql) });
  const prepared = { name: "older_gateway", text: OLD_LINE };
  await theirs.query(prepared);
  await migrateThen(ours, async () => {});
  await theirs.query(prepared);
  await ours.query(NEW_LINE);
  expect((await ours.query(READ)).rows).toEqual(LINES);
  await Promise.all([ours.end(), theirs.end()]);
  await database.drop();
}, 120_000);
