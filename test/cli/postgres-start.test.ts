// `./tollgate serve` on a PostgreSQL that is unsuitable, or that goes away during the start: it ends with exit code 1
// and says which database, what is wrong with it and what to do, and never prints the password (hardening.md S11).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { keepStartsOut } from "../../src/store/postgres-migrate.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer, type TestDatabase } from "../support/postgres.ts";
import { PROGRAM } from "../support/program.ts";
import { reads, waitFor } from "../support/wait.ts";

const PASSWORD = "hunter2-hunter2";

let server: PostgresServer;
let database: TestDatabase;
let admin: pg.Client;
let folder: string;
beforeAll(async () => {
  server = await PostgresServer.start();
  database = await server.database();
  folder = mkdtempSync(join(tmpdir(), "tollgate-start-"));
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
}, 120_000);
afterAll(async () => {
  await admin.end();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A changed URL of the test's database; its password is not checked, and must not be printed. */
function elsewhere(change: (url: URL) => void = () => {}, from = database.url): string {
  const url = new URL(from);
  url.password = PASSWORD;
  change(url);
  return url.href;
}

const placeOf = (url: string): string => `${new URL(url).host}${new URL(url).pathname}`;

/** Its output until it ends. */
async function serve(url: string, directory = "data"): Promise<{ code: number; said: string }> {
  const gateway = Bun.spawn([PROGRAM, "serve", "--port", "0", "--data-dir", join(folder, directory)], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: url, TOLLGATE_LOG_LEVEL: "silent" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const tooLong = setTimeout(() => gateway.kill("SIGKILL"), 100_000);
  const said = await new Response(gateway.stderr).text();
  const code = await gateway.exited;
  clearTimeout(tooLong);
  return { code, said };
}

async function refusedWith(url: string, words: RegExp): Promise<void> {
  const { code, said } = await serve(url);
  expect(said).toMatch(words);
  expect(said).toContain(placeOf(url));
  expect(said).not.toContain(PASSWORD);
  expect(said).not.toMatch(/\n\s+at /); // no stack trace: a sentence
  expect(code).toBe(1);
}

describe("refused with what to do", () => {
  test("nobody listens at the address", async () => {
    await refusedWith(
      elsewhere((url) => {
        url.port = "1";
      }),
      /cannot be reached: connect ECONNREFUSED.*check DATABASE_URL, or database_url of tollgate.yaml, and that it is running/,
    );
  }, 120_000);

  test("an unknown host", async () => {
    await refusedWith(
      elsewhere((url) => {
        url.hostname = "no-such-host.invalid";
      }),
      /cannot be reached: .*check DATABASE_URL/,
    );
  }, 120_000);

  test("not a URL at all", async () => {
    const { code, said } = await serve(`postgres:/${PASSWORD}@`);
    expect([code, said.includes("DATABASE_URL"), said.includes(PASSWORD)]).toEqual([1, true, false]);
  }, 120_000);

  test("an unknown database", async () => {
    await refusedWith(
      elsewhere((url) => {
        url.pathname = "/missing";
      }),
      /does not exist \(.+\); create it, or correct DATABASE_URL/,
    );
  }, 120_000);

  test("a wrong password, and an unknown user", async () => {
    await admin.query("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'another one'");
    await server.askPasswordOf("guarded");
    await refusedWith(
      elsewhere((url) => {
        url.username = "guarded";
      }),
      /refused the password of DATABASE_URL \(.+\); correct DATABASE_URL/,
    );
    await refusedWith(
      elsewhere((url) => {
        url.username = "nobody-knows";
      }),
      /refused the user of DATABASE_URL \(.+\); correct DATABASE_URL/,
    );
  }, 120_000);

  test("a user who may not create tables", async () => {
    await admin.query("CREATE ROLE powerless LOGIN");
    await refusedWith(
      elsewhere((url) => {
        url.username = "powerless";
      }),
      /grant that user CREATE on the schema/,
    );
  }, 120_000);

  test("a read-only database", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await refusedWith(elsewhere(), /is read-only.*must name the primary/);
    const session = new pg.Client({
      connectionString: database.url,
      options: "-c default_transaction_read_only=off",
    });
    await session.connect();
    await session.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await session.end();
  }, 120_000);

  test("a schema of a newer program", async () => {
    const newer = await server.database();
    const client = new pg.Client({ connectionString: newer.url });
    await client.connect();
    await client.query(
      "CREATE TABLE schema_migration (version BIGINT PRIMARY KEY, name TEXT, checksum TEXT, applied_at BIGINT)",
    );
    await client.query("INSERT INTO schema_migration VALUES (999, 'future', 'x', 0)");
    await client.end();
    await refusedWith(
      elsewhere(undefined, newer.url),
      /has schema 999, this program knows \d+; start the newer program/,
    );
  }, 120_000);
});

test("a hot standby is refused and named as such", async () => {
  const primary = await PostgresServer.start();
  const standby = await primary.standby();
  try {
    await refusedWith(
      elsewhere(undefined, standby.url),
      /is read-only, possibly a standby \(.+\); DATABASE_URL must name the primary/,
    );
  } finally {
    await standby.stop();
    await primary.stop();
  }
}, 120_000);

describe("the database goes away while a gateway starts", () => {
  /** In the order of the start. */
  const MOMENTS = {
    "before anything": "pg_try_advisory_xact_lock",
    "at its number": "UPDATE store_state SET epoch",
    "at its lease": "INSERT INTO instance",
    "at its first writer": "SHOW transaction_read_only",
    "at what others left": "SET condemned = true",
    "at its releases": "JOIN route_release",
    "at its operator's key": "INSERT INTO management_key",
    "at its people": "CREATE SCHEMA people",
  };

  test.each(Object.entries(MOMENTS).map(([moment, word]) => ({ moment, word })))(
    "$moment",
    async ({ moment, word }) => {
      const fresh = await server.database();
      const proxy = await CuttingProxy.start(fresh.url);
      try {
        proxy.cutAt(word, "after, and stay away");
        const url = elsewhere(undefined, proxy.through(fresh.url));
        const { code, said } = await serve(url, `data of ${moment}`);
        expect(proxy.cuts).toBe(1);
        expect(said).toContain(`the database ${placeOf(url)} `);
        expect(said).toMatch(/cannot be reached|became unavailable during the start/);
        expect(said).toMatch(/check|start again/);
        expect(said).not.toContain(PASSWORD);
        expect(code).toBe(1);
      } finally {
        await proxy.stop();
        await fresh.drop();
      }
    },
    120_000,
  );
});

describe("the database ends one session of a start: the start goes on, and says so", () => {
  const MOMENTS: Record<string, string[]> = {
    "at its schema": ["CREATE TABLE IF NOT EXISTS schema_migration", "INSERT INTO store_state"],
    "at its number and lease": ["UPDATE store_state SET epoch", "INSERT INTO instance"],
    "at its writers and what others left": ["SHOW transaction_read_only", "SET condemned = true"],
    "at its releases": ["JOIN route_release", "INSERT INTO route_release"],
    "at its demo": ["INSERT INTO organization", "INSERT INTO topup", "INSERT INTO api_key"],
    "at its operator's key and its people": ["INSERT INTO management_key", "CREATE SCHEMA people"],
  };

  test.each(Object.entries(MOMENTS).map(([moment, words]) => ({ moment, words })))(
    "$moment",
    async ({ moment, words }) => {
      for (const when of ["before", "after"] as const)
        for (const word of words) {
          const name = `goes on ${moment} ${words.indexOf(word)} ${when}`;
          expect({ word, when, ...(await cutOnce(name, word, when)) }).toEqual({
            word,
            when,
            cuts: 1,
            demo: true,
          });
        }
    },
    240_000,
  );

  test.each([
    ["people", "CREATE SCHEMA people"],
    ["first-run link", "to_regclass('people.user')"],
  ])(
    "at its %s, where it says nothing any more",
    async (moment, word) => {
      expect(await cutOnce(`silent at its ${moment}`, word, "silent")).toEqual({ cuts: 1, demo: true });
    },
    120_000,
  );

  /** Starts a gateway whose session is cut once, at a word; whether it then prints its demo key. */
  async function cutOnce(
    name: string,
    word: string,
    when: "before" | "after" | "silent",
  ): Promise<{ cuts: number; demo: boolean }> {
    const fresh = await server.database();
    const proxy = await CuttingProxy.start(fresh.url);
    proxy.cutAt(word, when);
    const told = join(folder, `${name}.out`);
    const gateway = Bun.spawn([PROGRAM, "serve", "--port", "0", "--data-dir", join(folder, name)], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: proxy.through(fresh.url), TOLLGATE_LOG_LEVEL: "silent" },
      stdin: "ignore",
      stdout: Bun.file(told),
      stderr: "ignore",
    });
    try {
      const hasKey = async () => existsSync(told) && (await Bun.file(told).text()).includes("gw_sk_");
      await waitFor(async () => (await hasKey()) || gateway.exitCode !== null, "a start that goes on");
      return { cuts: proxy.cuts, demo: await hasKey() };
    } finally {
      gateway.kill("SIGKILL");
      await gateway.exited;
      await proxy.stop();
      await fresh.drop();
    }
  }

  test("again and again: it gives up, and says why and what to do", async () => {
    const fresh = await server.database();
    const proxy = await CuttingProxy.start(fresh.url);
    try {
      const again = setInterval(() => proxy.cutAt("INSERT INTO instance", "before"), 5);
      const { code, said } = await serve(proxy.through(fresh.url), "again and again");
      clearInterval(again);
      expect(proxy.cuts).toBe(4);
      expect(code).toBe(1);
      expect(said).toMatch(
        /became unavailable during the start: .+; check that it is running, and start again/,
      );
    } finally {
      await proxy.stop();
      await fresh.drop();
    }
  }, 120_000);
});

test("a wait for another gateway's migration says so after a second, and who has the turn", async () => {
  const fresh = await server.database();
  const holder = new pg.Client({
    connectionString: fresh.url,
    application_name: "tollgate start of another",
  });
  await holder.connect();
  await holder.query("BEGIN");
  await keepStartsOut(holder);
  const { DATABASE_URL: _, ...env } = process.env;
  const migrating = Bun.spawn([PROGRAM, "--data-dir", join(folder, "waiting"), "db", "migrate"], {
    env: { ...env, DATABASE_URL: fresh.url },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const reader = migrating.stderr.getReader();
  const { value } = await reader.read();
  expect(Buffer.from(value ?? []).toString()).toMatch(
    /waiting for another gateway's migration of the database: "tollgate start of another" of \S+ at 127\.0\.0\.1, process \d+ of the server, for \d+ s \(1 s so far\)/,
  );
  await holder.query("COMMIT");
  expect(await migrating.exited).toBe(0);
  await holder.end();
}, 120_000);

/** Limits of seconds, and a few of them one after another on a busy machine. */
const NOTICED_WITHIN_MS = 60_000;

test("the database falls silent while a gateway starts, with the connection open: no start waits for it without a word", async () => {
  const moments = {
    "at its encoding": "SHOW server_encoding",
    "at its rights": "has_schema_privilege",
  };
  const said = await Promise.all(
    Object.entries(moments).map(async ([moment, word]) => {
      const fresh = await server.database();
      const proxy = await CuttingProxy.start(fresh.url);
      try {
        proxy.cutAt(word, "silent");
        const beganMs = performance.now();
        const { code, said } = await serve(proxy.through(fresh.url), `silent ${moment}`);
        expect({ moment, cuts: proxy.cuts, code }).toEqual({ moment, cuts: 1, code: 1 });
        expect(performance.now() - beganMs).toBeLessThan(NOTICED_WITHIN_MS);
        return said;
      } finally {
        await proxy.stop();
        await fresh.drop();
      }
    }),
  );
  for (const words of said) expect(words).toMatch(/cannot be reached|became unavailable during the start/);
}, 150_000);

test("a machine that stalls in a migration loses its session to the others, and starts once it runs again", async () => {
  const fresh = await server.database();
  const holder = new pg.Client({ connectionString: fresh.url });
  await holder.connect();
  await holder.query("BEGIN");
  await keepStartsOut(holder);
  const sessions = async (): Promise<number> => {
    const { rowCount } = await admin.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND application_name = 'tollgate start' AND xact_start IS NOT NULL",
      [new URL(fresh.url).pathname.slice(1)],
    );
    return rowCount ?? 0;
  };
  const { DATABASE_URL: _, ...env } = process.env;
  const migrating = Bun.spawn([PROGRAM, "--data-dir", join(folder, "stalled"), "db", "migrate"], {
    env: { ...env, DATABASE_URL: fresh.url },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  await reads(sessions, 1);
  migrating.kill("SIGSTOP");
  await holder.query("COMMIT");
  await reads(sessions, 0);
  migrating.kill("SIGCONT");
  const [said, code] = await Promise.all([migrating.stderr.text(), migrating.exited]);
  expect(code).toBe(0);
  expect(said).toMatch(/the database ended the session of this start \(.+\); trying again/);
  await holder.end();
}, 120_000);
