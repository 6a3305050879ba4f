// Opening the PostgreSQL store: by several gateways concurrently, and everything that must be refused with what to
// do.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { loadConfig } from "../../src/config/config.ts";
import { start } from "../../src/main/gateway.ts";
import { MIGRATIONS } from "../../src/store/migrations/list.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { inspectPostgres } from "../../src/store/postgres-inspect.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { TransactionPooler } from "../support/transaction-pooler.ts";

describe("PostgreSQL: opening the store", () => {
  let database: TestDatabase;
  let folder: string;
  let admin: pg.Client;
  beforeAll(async () => {
    database = await (await testPostgres()).database();
    folder = mkdtempSync(join(tmpdir(), "tollgate-store-"));
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const refusal = async (url: string, directory = folder): Promise<string> => {
    const opened = await openPostgresStore(url, directory).catch((error: unknown) => error);
    if (!(opened instanceof Error)) throw new Error("it opened");
    return opened.message;
  };
  const elsewhere = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  test("five gateways that start concurrently migrate once, and get distinct numbers", async () => {
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openPostgresStore(database.url, folder)));
    const epochs = await Promise.all(stores.map((store) => store.nextEpoch()));
    expect(new Set(epochs).size).toBe(5);
    const { rows } = await admin.query("SELECT version FROM schema_migration ORDER BY version");
    expect(rows).toEqual(MIGRATIONS.postgresql.map(({ version }) => ({ version: String(version) })));
    await Promise.all(stores.map((store) => store.close()));
  });

  test("every session has its time limits, and eight-byte integers arrive exact", async () => {
    const store = await openPostgresStore(database.url, folder);
    const client = await store.connect("test");
    for (const [setting, value] of [
      ["statement_timeout", "5s"],
      ["lock_timeout", "2s"],
      ["idle_in_transaction_session_timeout", "1s"],
      ["synchronous_commit", "on"],
    ] as const) {
      const { rows } = await client.query<Record<string, string>>(`SHOW ${setting}`);
      expect(rows[0]?.[setting]).toBe(value);
    }
    const { rows } = await client.query("SELECT 9223372036854775807::bigint AS most");
    expect(rows).toEqual([{ most: 9223372036854775807n }]);
    await client.end();
    await store.close();
  });

  test.each([
    { servers: 1, order: "last" },
    { servers: 3, order: "last" },
    { servers: 1, order: "round robin" },
    { servers: 2, order: "round robin" },
    { servers: 3, order: "round robin" },
  ] as const)(
    "behind a pooler that lends $servers connections for a transaction at a time, $order: refused, and nothing set on what others are lent",
    async (terms) => {
      const pooler = await TransactionPooler.start(database.url, terms);
      const said = await refusal(pooler.through(database.url));
      expect(said).toContain("is behind a pooler in transaction mode");
      expect(said).toContain("name the server itself in DATABASE_URL, or a pooler in session mode");
      expect(inspectPostgres(pooler.through(database.url))).rejects.toThrow(said);
      const next = new pg.Client({ connectionString: pooler.through(database.url) });
      await next.connect();
      expect((await next.query("SHOW statement_timeout")).rows).toEqual([{ statement_timeout: "0" }]);
      await next.end();
      await pooler.stop();
    },
  );

  test("nobody listens there: the message names the address and never the password", async () => {
    const said = await refusal("postgres://u:hunter2@127.0.0.1:1/nowhere");
    expect(said).toContain("127.0.0.1:1/nowhere");
    expect(said).toContain("cannot be reached");
    expect(said).not.toContain("hunter2");
  });

  test("no such database", async () => {
    const missing = elsewhere((url) => {
      url.pathname = "/missing";
    });
    expect(await refusal(missing)).toMatch(/does not exist \(.+\); create it/);
  });

  test("a read-only database", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await refusal(database.url)).toContain("read-only");
    await admin.query("SET default_transaction_read_only = off");
    await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  });

  test("a database whose encoding lacks characters is refused with what to do; one that stores bytes as they come is not", async () => {
    const name = `${new URL(database.url).pathname.slice(1)}_other`;
    for (const [encoding, refuses] of [
      ["LATIN1", true],
      ["SQL_ASCII", false],
    ] as const) {
      await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`);
      const url = elsewhere((other) => {
        other.pathname = `/${name}`;
      });
      const opened = await openPostgresStore(url, folder).catch((error: unknown) => error);
      if (!(opened instanceof Error)) await (opened as { close(): Promise<void> }).close();
      expect(opened instanceof Error).toBe(refuses);
      if (opened instanceof Error) {
        expect(opened.message).toContain(`/${name} was created with the encoding LATIN1`);
        const looked = await inspectPostgres(url).catch((error: unknown) => error);
        expect(looked).toMatchObject({ reason: "encoding", message: opened.message });
      }
      await admin.query(`DROP DATABASE ${name}`);
    }
  });

  // What a start writes first, and what it writes last: its number, and the demo's releases.
  test.each(["instance", "route_release"])(
    "a disk that fills right after the migrations is told as such: table %s",
    async (table) => {
      await (await openPostgresStore(database.url, folder)).close();
      await admin.query(`CREATE OR REPLACE FUNCTION fills() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file "base/1/2"' USING ERRCODE = '53100'; END $$`);
      await admin.query(
        `CREATE TRIGGER fills BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fills()`,
      );
      const env = { DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: "silent" };
      const config = loadConfig({ env, cwd: folder, flags: { dataDir: folder, port: "0" } });
      const refused = await start(config).then(
        (running) => running.stop(),
        (error: unknown) => error,
      );
      await admin.query("DROP FUNCTION fills CASCADE");
      expect(String(refused)).toContain(
        `${new URL(database.url).pathname} has no space left (could not extend file "base/1/2"); free some space, then start again`,
      );
    },
  );

  test("another data key", async () => {
    const stranger = mkdtempSync(join(tmpdir(), "tollgate-store-"));
    expect(await refusal(database.url, stranger)).toContain("data.key");
    rmSync(stranger, { recursive: true, force: true });
  });

  test("a newer schema, and an edited one", async () => {
    await admin.query("INSERT INTO schema_migration VALUES (999, 'future', 'x', 0)");
    expect(await refusal(database.url)).toContain("newer program");
    await admin.query("DELETE FROM schema_migration WHERE version = 999");
    const { rows } = await admin.query<{ checksum: string }>("SELECT checksum FROM schema_migration");
    await admin.query("UPDATE schema_migration SET checksum = 'edited'");
    expect(await refusal(database.url)).toContain("differs");
    await admin.query("UPDATE schema_migration SET checksum = $1", [rows[0]?.checksum]);
  });

  test("the gateway's own role cannot change evidence", async () => {
    const name = `tollgate_${crypto.randomUUID().slice(0, 8)}`;
    const role = await (await testPostgres()).database();
    const superuser = new pg.Client({ connectionString: role.url });
    await superuser.connect();
    await superuser.query(
      `CREATE ROLE ${name} LOGIN; GRANT ALL ON SCHEMA public TO ${name}; CREATE SCHEMA people AUTHORIZATION ${name}`,
    );
    const url = new URL(role.url);
    url.username = name;
    const own = mkdtempSync(join(tmpdir(), "tollgate-store-"));
    const store = await openPostgresStore(url.href, own);
    for (const statement of [
      "UPDATE ledger_entry SET amount = 1",
      "DELETE FROM topup",
      "TRUNCATE audit_log",
      "UPDATE audit_log SET address = NULL, request_id = NULL",
      "DELETE FROM audit_log",
      "DELETE FROM request",
    ]) {
      const refused: unknown = await store.pool.query(statement).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "42501" });
    }
    await store.close();
    await superuser.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    await superuser.end();
    await role.drop();
    rmSync(own, { recursive: true, force: true });
  });
});
