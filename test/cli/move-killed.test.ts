// `db move`, killed at each of its stages: at most one of the two stores ever opens for a gateway, the same command
// again completes it with nothing missing; or it is taken back, unless it is complete.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { CrashPoint } from "../../src/lib/crash-point.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { StoreFailure } from "../../src/store/store-failure.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { abandonMove, moveToPostgres } from "../../src/main/move.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { PROGRAM } from "../support/program.ts";

/** After how much of it the process is killed, and whether the new place was open by then. */
const STAGES: [at: CrashPoint | `${CrashPoint}:${number}`, opened: boolean][] = [
  ["move_fenced", false],
  ["move_marked", false],
  ["move_resolved", false],
  ["move_copied", false],
  ["move_people_row:3", false],
  ["move_people", false],
  ["move_checked", false],
  ["move_opened", true],
  ["move_people_aside", true],
];
/** The others have the newest schema already: making it takes longer than the move. */
const ON_EMPTY_DATABASES = new Set(["move_fenced", "move_resolved", "move_people_row:3", "move_opened"]);
/**
 * Tables that expire within minutes and are left behind, and lines on their way into the audit log, which are moved
 * with it.
 */
const LEFT_BEHIND = new Set(["rememberedAnswer", "rateLimit", "auditOutbox"]);
const WAITING = {
  atMs: 1,
  actor: { id: "usr_1", address: null, requestId: null },
  action: "person.rename",
  organizationId: null,
  target: "usr_1",
};

let template: string;
let ada: Browser;
/** Table → rows, of both files of the old place. */
let before: { ledger: Record<string, number>; people: Record<string, number> };
const folders: string[] = [];
const databases: TestDatabase[] = [];

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "tollgate-move-"));
  folders.push(made);
  return made;
};

const gatewayOn = (dataDir: string, databaseUrl: string | null, port = "0"): Promise<Running> => {
  const config = loadConfig({ env: {}, cwd: dataDir, flags: { port, dataDir } });
  config.databaseUrl = databaseUrl;
  return start(config, { log: createLog("silent") });
};

beforeAll(async () => {
  template = folder();
  const gateway = await gatewayOn(template, null);
  const browser = new Browser(gateway.url);
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  await browser.app("POST /welcome", {}, { token: tokenOf(gateway.signInLink), ...account });
  const { person } = await browser.app("GET /session");
  const org = person?.memberships[0]?.org ?? "";
  await browser.app("POST /orgs/{org}/keys", { org }, { name: "one" });
  await browser.app(
    "POST /operator/credits",
    {},
    {
      org,
      amount_usd: "5",
      kind: "purchase",
      reference: "first",
      reason: "agreed",
    },
  );
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.demoKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain-1", messages: [{ role: "user", content: "Hello" }] }),
  });
  ada = browser;
  await gateway.stop();
  const ledger = rowsIn(
    join(template, "tollgate.sqlite"),
    new Set(["schema_migration", "store_state", "instance"]),
  );
  const people = new Database(join(template, "people.sqlite"));
  people.run(`INSERT INTO "auditOutbox" (id, line) VALUES ('waits', ?1)`, [JSON.stringify(WAITING)]);
  people.close();
  before = {
    ledger: {
      ...ledger,
      audit_log: (ledger["audit_log"] ?? 0) + 1,
      audit_carried: (ledger["audit_carried"] ?? 0) + 1,
    },
    people: rowsIn(join(template, "people.sqlite"), LEFT_BEHIND),
  };
}, 120_000);
afterAll(async () => {
  for (const database of databases) await database.drop();
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

function rowsIn(file: string, without: ReadonlySet<string>): Record<string, number> {
  const database = new Database(file, { readonly: true });
  const tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").values();
  const rows = tables
    .map(([name]) => String(name))
    .filter((name) => !name.startsWith("sqlite_") && !without.has(name))
    .map(
      (name) => [name, Number(database.query(`SELECT count(*) FROM "${name}"`).values()[0]?.[0])] as const,
    );
  database.close();
  return Object.fromEntries(rows);
}

async function rowsOf(
  url: string,
  schema: string,
  tables: Record<string, number>,
): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const found: Record<string, number> = {};
  for (const table of Object.keys(tables)) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${schema}."${table}"`);
    found[table] = Number(rows[0]?.count);
  }
  await client.end();
  return found;
}

interface Places {
  dataDir: string;
  url: string;
}

/** `newest`: the target database has the schema already; otherwise the move creates it. */
async function places({ newest }: { newest: boolean }): Promise<Places> {
  const dataDir = folder();
  cpSync(template, dataDir, { recursive: true });
  const postgres = await testPostgres();
  const database = await (newest ? postgres.migrated() : postgres.database());
  databases.push(database);
  return { dataDir, url: database.url };
}

async function move(
  { dataDir, url }: Places,
  also: { crashAt?: string; abandon?: boolean } = {},
): Promise<{ code: number; signal: string | null; stderr: string }> {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = Bun.spawn(
    [
      PROGRAM,
      "--data-dir",
      dataDir,
      "db",
      "move",
      "--to",
      url,
      ...(also.abandon === true ? ["--abandon"] : []),
    ],
    {
      env: { ...env, ...(also.crashAt !== undefined && { TOLLGATE_CRASH_AT: also.crashAt }) },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const stderr = await new Response(child.stderr).text();
  const code = await child.exited;
  return { code, signal: child.signalCode?.toString() ?? null, stderr };
}

/** What the command does, in this process: a program's start is most of the work of a small move. */
const moveHere = ({ dataDir, url }: Places): Promise<unknown> => moveToPostgres(dataDir, url);

/** Why the store refuses; null if it does not. */
async function refusal(open: () => Promise<unknown>): Promise<string | null> {
  try {
    await open();
    return null;
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    return error.message;
  }
}

const sourceRefusal = ({ dataDir }: Places): Promise<string | null> =>
  refusal(async () => {
    const copy = folder(); // the check must not change what it checks
    cpSync(dataDir, copy, { recursive: true });
    openSqliteStore(copy).close();
  });

const targetRefusal = ({ dataDir, url }: Places): Promise<string | null> =>
  refusal(async () => await (await openPostgresStore(url, dataDir)).close());

describe("killed at each stage", () => {
  test.each(STAGES)(
    "%s: one store opens at most, and the same command completes it with nothing missing",
    async (crashAt, opened) => {
      const here = await places({ newest: !ON_EMPTY_DATABASES.has(crashAt) });
      expect((await move(here, { crashAt })).signal).toBe("SIGKILL");
      const source = await sourceRefusal(here);
      expect(source).toContain("db move");
      // A target that was not fenced yet is an ordinary empty database: it holds nothing of this store.
      if (crashAt !== "move_fenced") {
        const target = await targetRefusal(here);
        if (opened) expect(target).toBeNull();
        else expect(target).toContain("--abandon");
      }
      await moveHere(here);
      await assertMoved(here);
    },
    120_000,
  );
});

async function assertMoved(here: Places): Promise<void> {
  expect(existsSync(join(here.dataDir, "tollgate.sqlite"))).toBe(false);
  expect(existsSync(join(here.dataDir, "people.sqlite"))).toBe(false);
  expect(await sourceRefusal(here)).toContain("DATABASE_URL");
  expect(await targetRefusal(here)).toBeNull();
  expect(await rowsOf(here.url, "public", before.ledger)).toEqual(before.ledger);
  expect(await rowsOf(here.url, "people", before.people)).toEqual(before.people);
}

test("a previous sign-in works at the new place, with its keys, credits and audit log", async () => {
  const here = await places({ newest: false });
  await move(here, { crashAt: "move_people_row:2" });
  expect((await move(here)).code).toBe(0);
  const gateway = await gatewayOn(here.dataDir, here.url, new URL(ada.origin).port);
  try {
    const { person } = await ada.app("GET /session");
    expect(person).toMatchObject({ name: "Ada", operator: true });
    const org = person?.memberships[0]?.org ?? "";
    expect((await ada.app("GET /orgs/{org}/keys", { org })).data.map(({ name }) => name)).toContain("one");
    const { data } = await ada.app("GET /orgs/{org}/audit", { org });
    expect(data.map(({ action }) => action)).toContain("credits.purchase");
    expect(await gateway.ledger.verify()).toMatchObject({ ok: true });
  } finally {
    await gateway.stop();
  }
}, 120_000);

describe("taken back", () => {
  test.each(STAGES)(
    "%s: the old store opens again and the new one never does, unless it is open already",
    async (crashAt, opened) => {
      const here = await places({ newest: true });
      await move(here, { crashAt });
      const back = await move(here, { abandon: true });
      if (opened) {
        expect([back.code, back.stderr]).toEqual([1, expect.stringContaining("complete")]);
        expect(await sourceRefusal(here)).toContain("db move");
        await moveHere(here);
        await assertMoved(here);
        return;
      }
      expect([back.code, back.stderr]).toEqual([0, ""]);
      expect(await sourceRefusal(here)).toBeNull();
      if (crashAt !== "move_fenced") expect(await targetRefusal(here)).toContain("cancelled move");
      expect(await refusal(() => abandonMove(here.dataDir, here.url))).toContain("no move");
      // The old store continues, and can be moved elsewhere.
      expect(rowsIn(join(here.dataDir, "people.sqlite"), LEFT_BEHIND)).toEqual(before.people);
      const elsewhere = { dataDir: here.dataDir, url: (await places({ newest: true })).url };
      await moveHere(elsewhere);
      await assertMoved(elsewhere);
    },
    120_000,
  );
});

test("a database that refuses changes nothing; a move that has begun can go to no other place", async () => {
  const here = await places({ newest: true });
  const taken = await places({ newest: true });
  await (await openPostgresStore(taken.url, taken.dataDir)).close();
  const client = new pg.Client({ connectionString: taken.url });
  await client.connect();
  await client.query("INSERT INTO organization VALUES ('org_x', 'x', 0)");
  await client.end();
  const refused = await move({ dataDir: here.dataDir, url: taken.url });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("not empty")]);
  expect(await sourceRefusal(here)).toBeNull();
  const nowhere = await move({ dataDir: here.dataDir, url: "postgres://nobody@127.0.0.1:1/nowhere" });
  expect(nowhere.code).toBe(1);
  expect(await sourceRefusal(here)).toBeNull();
  await move(here, { crashAt: "move_copied" });
  const other = await move({ dataDir: here.dataDir, url: (await places({ newest: true })).url });
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("is being moved to")]);
  // No other store can be moved to where this one is being moved.
  const second = await places({ newest: true });
  const crowded = await move({ dataDir: second.dataDir, url: here.url });
  expect([crowded.code, crowded.stderr]).toEqual([
    1,
    expect.stringContaining("being moved into this database"),
  ]);
  expect(await sourceRefusal(second)).toBeNull();
  expect((await move(here)).code).toBe(0);
  await assertMoved(here);
}, 120_000);

test("no store moves into a database on which a gateway runs", async () => {
  const here = await places({ newest: true });
  const running = await gatewayOn(here.dataDir, here.url);
  const second = folder();
  cpSync(template, second, { recursive: true });
  try {
    const refused = await move({ dataDir: second, url: here.url });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/a gateway is running|not empty/),
    ]);
  } finally {
    await running.stop();
  }
}, 120_000);
