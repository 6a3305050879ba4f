// `db move`, refused or cut off midway: it says what is wrong with which database and what to do next, and the embedded
// store opens again wherever nothing of it has reached the database.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { dataKeyCheck, readDataKey } from "../../src/store/data-key.ts";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations/list.ts";
import { migrateThen } from "../../src/store/postgres-migrate.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { closeSqlite, connectSqlite, databasePath } from "../../src/store/sqlite-connection.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

const PATIENCE_MS = 120_000;
const { DATABASE_URL: _, ...env } = process.env;

let folder: string;
let template: string;
const databases: TestDatabase[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-move-refused-"));
  template = join(folder, "template");
  openSqliteStore(template).close();
});
afterAll(async () => {
  for (const database of databases) await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A store of its own, of no traffic, and an empty database. */
async function places(name: string): Promise<{ dataDir: string; url: string }> {
  const dataDir = join(folder, name);
  cpSync(template, dataDir, { recursive: true });
  const database = await (await testPostgres()).database();
  databases.push(database);
  return { dataDir, url: database.url };
}

const tollgate = (dataDir: string, ...words: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, ["--data-dir", dataDir, ...words], { env });
const move = (dataDir: string, to: string, ...more: string[]): Promise<Ran> =>
  tollgate(dataDir, "db", "move", "--to", to, ...more);

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    options: "-c default_transaction_read_only=off",
  });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** A new role that may connect, and nothing else. */
async function roleOf(url: string): Promise<{ role: string; asRole: string }> {
  const there = new URL(url);
  const role = `weak_${there.pathname.slice(1)}`;
  await run(url, `CREATE ROLE ${role} LOGIN`);
  there.username = role;
  return { role, asRole: there.href };
}

const dropRole = (url: string, role: string): Promise<void> =>
  run(url, `DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`);

const opens = (dataDir: string): void => openSqliteStore(dataDir).close();

describe("a database that cannot take the store leaves it as it was", () => {
  test(
    "the role lacks a right: what to grant, for tables and for the schema of people",
    async () => {
      const { dataDir, url } = await places("rights");
      const { role, asRole } = await roleOf(url);
      const name = new URL(url).pathname.slice(1);
      try {
        const neither = await move(dataDir, asRole);
        expect([neither.code, neither.err]).toEqual([
          1,
          expect.stringContaining(
            "cannot be changed by the user of --to; grant that user CREATE on the schema public and on the database, for its schema people",
          ),
        ]);
        opens(dataDir);
        await run(url, `GRANT CREATE ON SCHEMA public TO ${role}`);
        const half = await move(dataDir, asRole, "--json");
        expect([half.code, JSON.parse(half.out)]).toEqual([
          1,
          {
            error: {
              message: expect.stringContaining(
                "grant that user CREATE on the database, for its schema people",
              ),
              next: expect.anything(),
            },
          },
        ]);
        opens(dataDir);
        await run(url, `GRANT CREATE ON DATABASE ${name} TO ${role}`);
        expect(await move(dataDir, asRole)).toMatchObject({ code: 0, err: "" });
      } finally {
        await dropRole(url, role);
      }
    },
    PATIENCE_MS,
  );

  test(
    "a read-only one",
    async () => {
      const { dataDir, url } = await places("read-only");
      await run(
        url,
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`,
      );
      const { code, err } = await move(dataDir, url);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/is read-only, possibly a standby \(.+\); --to must/),
      ]);
      opens(dataDir);
    },
    PATIENCE_MS,
  );

  test(
    "of another installation: it never asks for another data key, which this store would not open with",
    async () => {
      const { dataDir, url } = await places("another");
      const other = join(folder, "other-key");
      mkdirSync(other, { mode: 0o700 });
      writeFileSync(join(other, "data.key"), Buffer.alloc(32, 7), { mode: 0o600 });
      await (await openPostgresStore(url, other)).close();
      const { code, err } = await move(dataDir, url);
      expect([code, err]).toEqual([1, expect.stringContaining("belongs to another installation")]);
      expect(err).not.toContain("copy the file");
      opens(dataDir);
    },
    PATIENCE_MS,
  );

  test(
    "of a newer program",
    async () => {
      const { dataDir, url } = await places("newer");
      await (await openPostgresStore(url, dataDir)).close();
      await run(
        url,
        "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (9000, 'x', 'x', 0)",
      );
      const { code, err } = await move(dataDir, url);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/has schema 9000, this program knows \d+; name an empty database/),
      ]);
      opens(dataDir);
    },
    PATIENCE_MS,
  );

  test(
    "that is gone: --to is what names it",
    async () => {
      const { dataDir, url } = await places("gone");
      for (const to of [`${url}_gone`, "postgres://127.0.0.1:1/none"]) {
        const { code, err } = await move(dataDir, to);
        expect([code, err]).toEqual([1, expect.stringContaining("--to")]);
        expect(err).not.toContain("DATABASE_URL");
      }
      opens(dataDir);
    },
    PATIENCE_MS,
  );
});

test(
  "the database is lost midway: both ways out are named, no backup is made of the closed store, and the same command finishes",
  async () => {
    const { dataDir, url } = await places("lost");
    const proxy = await CuttingProxy.start(url);
    try {
      const to = proxy.through(url);
      proxy.cutAt("UPDATE store_state SET epoch = greatest", "before");
      const cut = await move(dataDir, to);
      expect([cut.code, cut.err]).toEqual([
        1,
        expect.stringMatching(
          /the move to 127\.0\.0\.1:\d+\/\w+ was interrupted \(.+\), and the store in .+ stays closed; run the same .+db move --to … again to finish it, or .+--abandon to cancel it/,
        ),
      ]);
      const backup = await tollgate(dataDir, "db", "backup", join(folder, "closed.backup"));
      expect([backup.code, backup.err]).toEqual([1, expect.stringContaining("is being moved to 127.0.0.1")]);
      expect(await move(dataDir, to)).toMatchObject({ code: 0, err: "" });
    } finally {
      await proxy.stop();
    }
    // What the move put aside is not served as a second store of the same money.
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    writeFileSync(join(elsewhere, "data.key"), readFileSync(join(dataDir, "data.key")), { mode: 0o600 });
    const moved = join(dataDir, "tollgate.sqlite.moved");
    const restored = await tollgate(elsewhere, "db", "restore", moved);
    expect([restored.code, restored.err]).toEqual([
      1,
      expect.stringMatching(
        /tollgate\.sqlite\.moved is a store that was being moved to PostgreSQL .+; nothing was changed/,
      ),
    ]);
  },
  PATIENCE_MS,
);

test(
  "a database that does not count the moved rows has them all the same",
  async () => {
    const { dataDir, url } = await places("uncounted");
    const proxy = await CuttingProxy.start(url);
    try {
      proxy.cutAt("ANALYZE", "before");
      const { code, out, err } = await move(dataDir, proxy.through(url));
      expect({ code, out, err }).toEqual({
        code: 0,
        out: expect.stringContaining("The old store is kept as"),
        err: expect.stringContaining(
          "the database could not analyze the moved tables, and does so by itself",
        ),
      });
      expect(proxy.cuts).toBe(1);
    } finally {
      await proxy.stop();
    }
  },
  PATIENCE_MS,
);

test(
  "a move that is taken back before anything has reached the database leaves it for the next one",
  async () => {
    const { dataDir, url } = await places("early");
    const killed = await runToEnd(PROGRAM, ["--data-dir", dataDir, "db", "move", "--to", url], {
      env: { ...env, TOLLGATE_CRASH_AT: "move_fenced" },
    });
    expect(killed.code).not.toBe(0);
    const back = await move(dataDir, url, "--abandon", "--json");
    expect([back.code, JSON.parse(back.out)]).toEqual([
      0,
      { moved: false, abandoned: true, database_closed: false, data_dir: dataDir },
    ]);
    expect(await move(dataDir, url)).toMatchObject({ code: 0, err: "" });
  },
  PATIENCE_MS,
);

describe("a refused move has changed nothing: neither store is brought to this program's schema", () => {
  const older = <T>(migrations: readonly T[]): readonly T[] => migrations.slice(0, -2);

  /** A store of an earlier program. */
  function olderStore(name: string): string {
    const dataDir = join(folder, name);
    mkdirSync(dataDir, { mode: 0o700 });
    const check = dataKeyCheck(readDataKey(dataDir, "fresh"));
    const database = connectSqlite(databasePath(dataDir));
    migrate(database, { migrations: older(MIGRATIONS.sqlite) });
    database.query("INSERT INTO store_state (id, epoch, data_key_check) VALUES (1, 7, ?1)").run(check);
    closeSqlite(database);
    return dataDir;
  }

  /** A database of an earlier program, with the data key of that store. */
  async function olderDatabase(dataDir: string): Promise<string> {
    const database = await (await testPostgres()).database();
    databases.push(database);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await migrateThen(client, async () => {}, { migrations: older(MIGRATIONS.postgresql) });
    await client.query("INSERT INTO store_state (id, epoch, data_key_check) VALUES (1, 7, $1)", [
      Buffer.from(dataKeyCheck(readDataKey(dataDir, "existing"))),
    ]);
    await client.end();
    return database.url;
  }

  async function stateOf(dataDir: string, url: string): Promise<unknown> {
    const sql =
      "SELECT version, checksum FROM schema_migration UNION ALL SELECT epoch, 'epoch' FROM store_state ORDER BY 1, 2";
    const file = new Database(databasePath(dataDir), { readonly: true });
    const source = file.query(sql).values();
    file.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: "array" });
    await client.end();
    return { source, target: rows };
  }

  test.each([
    [
      "has rows",
      "INSERT INTO organization (org_id, name, created_at) VALUES ('org_x', 'x', 0)",
      "not empty: org",
    ],
    [
      "has people",
      "CREATE SCHEMA people; CREATE TABLE people.user (id TEXT); INSERT INTO people.user VALUES ('x')",
      "not empty: people.user",
    ],
    [
      "is in use",
      "INSERT INTO instance (epoch, name, started_at, lease_until) VALUES (1, 'another', 0, 9000000000000)",
      "a gateway is running on the database (another); stop it, or name an empty database",
    ],
    [
      "is of another installation",
      "UPDATE store_state SET data_key_check = '\\x00112233445566778899aabbccddeeff'",
      "belongs to another installation, with a data key of its own; name an empty database",
    ],
    [
      "is taken by another move",
      "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (1000000000, 'a store is being moved into this database, from elsewhere', 'mov_x', 0)",
      "from elsewhere; run the same",
    ],
    [
      "is of a newer program",
      "INSERT INTO schema_migration VALUES (9000, 'x', 'x', 0)",
      "name an empty database",
    ],
  ])(
    "the database %s",
    async (what, statement, said) => {
      const dataDir = olderStore(what.replaceAll(" ", "-"));
      const url = await olderDatabase(dataDir);
      await run(url, statement);
      const before = await stateOf(dataDir, url);
      const { code, err } = await move(dataDir, url);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(said) });
      expect(await stateOf(dataDir, url)).toEqual(before);
      const none = await move(dataDir, url, "--abandon");
      expect([none.code, none.err]).toEqual([1, expect.stringContaining("no move of this store has begun")]);
      expect(await stateOf(dataDir, url)).toEqual(before);
    },
    PATIENCE_MS,
  );

  test(
    "one that was killed once the store was fenced, and is taken back",
    async () => {
      const dataDir = olderStore("fenced");
      const url = await olderDatabase(dataDir);
      const before = await stateOf(dataDir, url);
      const killed = await runToEnd(PROGRAM, ["--data-dir", dataDir, "db", "move", "--to", url], {
        env: { ...env, TOLLGATE_CRASH_AT: "move_fenced" },
      });
      expect(killed.code).not.toBe(0);
      expect(await move(dataDir, url, "--abandon")).toMatchObject({ code: 0, err: "" });
      expect(await stateOf(dataDir, url)).toEqual(before);
    },
    PATIENCE_MS,
  );

  test(
    "a store without a row moves, and is not taken for one that an earlier run had moved",
    async () => {
      const { dataDir, url } = await places("no-rows");
      const { code, out } = await move(dataDir, url);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("0 rows moved;") });
    },
    PATIENCE_MS,
  );

  test(
    "nor is one whose data key a start lacks; an empty one of an earlier program takes the store",
    async () => {
      const dataDir = olderStore("moves");
      const url = await olderDatabase(dataDir);
      const before = await stateOf(dataDir, url);
      const key = readFileSync(join(dataDir, "data.key"));
      writeFileSync(join(dataDir, "data.key"), Buffer.alloc(32, 7));
      expect(() => openSqliteStore(dataDir)).toThrow("is not the key that this database was created with");
      const refused = await openPostgresStore(url, dataDir).catch((error: unknown) => error);
      expect(String(refused)).toContain("is not the data key of this database");
      const { err } = await move(dataDir, url);
      expect(err).toContain("data.key is not the key that this database was created with");
      expect(await stateOf(dataDir, url)).toEqual(before);
      writeFileSync(join(dataDir, "data.key"), key);
      expect(await move(dataDir, url)).toMatchObject({ code: 0, err: "" });
    },
    PATIENCE_MS,
  );
});
