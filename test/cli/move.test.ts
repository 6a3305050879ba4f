// `db move` and `db backup`: the same money in another place, counted, summed and audited; answers still replay.
import { type Actor, byItself } from "../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import pg from "pg";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { interruptedStreams } from "../../src/gateway/interrupted-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { type Running, start } from "../../src/main/gateway.ts";
import { BEGUN, type KeyInHand, World } from "../ledger/world.ts";
import { Browser, PASSWORD, tokenOf } from "../support/browser.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { revokeKey } from "../../src/registry/key-life.ts";
import { requestEntitlement } from "../../src/registry/entitlements.ts";
import { auditLog } from "../support/audit-log.ts";
import { PROGRAM } from "../support/program.ts";

const DAY_MS = 86_400_000;
const ports = {
  idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS },
  printInterrupted: interruptedStreams(FORMATS),
  sweepEveryMs: DAY_MS,
};

const ALICE: Actor = { id: "alice", address: "203.0.113.4", requestId: "req_of_alice" };
const ASKED = { actor: ALICE.id, address: ALICE.address, requestId: ALICE.requestId };

let folder: string;
let database: TestDatabase;
let key: KeyInHand;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-move-"));
  database = await (await testPostgres()).database();
  await onSqlite(folder, fill);
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function onSqlite<T>(directory: string, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const store = openSqliteStore(directory);
  const ledger = await openSqliteLedger({ store, clock: systemClock, ...ports });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
    store.close();
  }
}

async function onPostgres<T>(
  url: string,
  work: (ledger: Ledger) => Promise<T>,
  directory = folder,
): Promise<T> {
  const store = await openPostgresStore(url, directory);
  const ledger = await openPostgresLedger({ store, ...ports });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
    await store.close();
  }
}

/** Something in every table: a settled, a released and a running request, and a stream that was cut. */
async function fill(ledger: Ledger): Promise<void> {
  const world = new World(ledger);
  await world.publish();
  key = await world.key(await world.organization(5), { limit: 100 });
  const settled = await world.admit(key, { hold: 1, idempotencyKey: "moved-answer" });
  await world.settle(key, settled.id, { dollars: 0.5, answer: "kept" });
  const released = await world.admit(key, { hold: 1 });
  await world.void(key, released.id, true);
  const streaming = await world.admit(key, { hold: 1, idempotencyKey: "moved-stream" });
  await world.checkpoint(key, streaming.id, { tokens: 9, sent: { seq: 0, text: BEGUN } });
  await world.admit(key, { hold: 1 });
  await requestEntitlement(
    ledger,
    { id: "ent_moved", organizationId: key.organizationId, model: "m", project: "p" },
    ALICE,
  );
}

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}
const run = (...words: string[]): Promise<Ran> => runOn(folder, ...words);
async function runOn(directory: string, ...words: string[]): Promise<Ran> {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = Bun.spawn([PROGRAM, "--data-dir", directory, ...words], {
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

describe("the embedded store", () => {
  test("a backup opens beside the same data key, passes the audit and replays", async () => {
    const file = join(folder, "backup.sqlite");
    expect((await run("db", "backup", file)).code).toBe(0);
    const restored = mkdtempSync(join(tmpdir(), "tollgate-restored-"));
    copyFileSync(join(folder, "data.key"), join(restored, "data.key"));
    copyFileSync(file, join(restored, "tollgate.sqlite"));
    await onSqlite(restored, async (ledger) => {
      expect((await ledger.verify()).violations).toEqual([]);
      const world = new World(ledger);
      expect((await world.admit(key, { hold: 1, idempotencyKey: "moved-answer" })).says).toBe("replay");
      expect((await auditLog(ledger, { limit: 1 }))[0]).toMatchObject(ASKED);
    });
    rmSync(restored, { recursive: true, force: true });
  });

  test("it is not moved while a gateway runs on it, nor to a database that holds anything", async () => {
    const store = openSqliteStore(folder);
    const busy = await run("db", "move", "--to", database.url);
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining(String(process.pid))]);
    store.close();
    const taken = await (await testPostgres()).database();
    await (await openPostgresStore(taken.url, folder)).close();
    const client = new pg.Client({ connectionString: taken.url });
    await client.connect();
    await client.query("INSERT INTO organization VALUES ('org_x', 'x', 0)");
    await client.end();
    const refused = await run("db", "move", "--to", taken.url);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("not empty")]);
    expect(existsSync(join(folder, "tollgate.sqlite"))).toBe(true);
    await taken.drop();
  });

  test("moved to PostgreSQL: counts, sums and audit agree, answers replay, traffic goes on", async () => {
    const { code, stdout } = await run("db", "move", "--to", database.url, "--json");
    expect(code).toBe(0);
    const moved = JSON.parse(stdout) as {
      rows: Record<string, number>;
      sums_nano_usd: Record<string, string>;
    };
    expect(moved.rows).toMatchObject({ organization: 1, api_key: 1, request: 4, topup: 1, result: 2 });
    expect(moved.sums_nano_usd).toMatchObject({ "org_balance.held": "0", "request.charge": "600000000" });
    expect(existsSync(join(folder, "tollgate.sqlite"))).toBe(false);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows: unknown } = await client.query(
      "SELECT relname FROM pg_class WHERE relname IN ('organization', 'request', 'ledger_entry', 'usage_hour') AND reltuples < 0",
    );
    expect(unknown).toEqual([]); // the planner knows them before the first request
    await client.end();
    await onPostgres(database.url, async (ledger) => {
      const world = new World(ledger);
      expect(await world.balance(key.organizationId)).toBe("4.40 0.00");
      expect((await ledger.verify()).violations).toEqual([]);
      expect((await world.admit(key, { hold: 1, idempotencyKey: "moved-answer" })).says).toBe("replay");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "moved-stream" })).says).toBe("replay");
      const { id } = await world.admit(key, { hold: 1 });
      await world.settle(key, id, { dollars: 0.1 });
      await revokeKey(ledger, key.keyId, byItself("bob"));
      const lines = await auditLog(ledger, { organizationId: key.organizationId, limit: 10 });
      expect(lines.map(({ action }) => action)).toEqual([
        "key.revoke",
        "entitlement.request",
        "key.create",
        "credits.purchase",
        "organization.create",
      ]);
      expect(lines[1]).toMatchObject(ASKED);
      expect((await ledger.verify()).violations).toEqual([]);
    });
    const again = await run("db", "move", "--to", database.url);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining("was moved to PostgreSQL; set DATABASE_URL"),
    ]);
  });

  test("a copy of the database, restored elsewhere, passes the audit", async () => {
    const server = new URL(database.url);
    const name = server.pathname.slice(1);
    server.pathname = "/postgres";
    const admin = new pg.Client({ connectionString: server.href });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}_restored TEMPLATE ${name}`);
    const restored = new URL(database.url);
    restored.pathname = `/${name}_restored`;
    await onPostgres(restored.href, async (ledger) => {
      expect((await ledger.verify()).violations).toEqual([]);
      expect(await new World(ledger).balance(key.organizationId)).toBe("4.30 0.00");
    });
    await admin.query(`DROP DATABASE ${name}_restored WITH (FORCE)`);
    await admin.end();
  });
});

test("a store moves whose entries do not join, once an operator has accepted them; before that it does not", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-accepted-"));
  const postgres = await testPostgres();
  const [taken, target] = [await postgres.database(), await postgres.database()];
  const change = (sign: "+" | "-"): void => {
    const store = new Database(join(dataDir, "tollgate.sqlite"));
    store.run(`UPDATE org_balance SET available = available ${sign} 7`);
    store.close();
  };
  let owner: KeyInHand | null = null;
  const enters = async (ledger: Ledger): Promise<void> => {
    const world = new World(ledger);
    if (owner === null) await world.publish();
    owner ??= await world.key(await world.organization(5), { limit: 100 });
    const { id } = await world.admit(owner, { hold: 1 });
    await world.settle(owner, id, { dollars: 0.5 });
  };
  await onSqlite(dataDir, enters);
  change("+");
  await onSqlite(dataDir, enters);
  change("-");
  const early = await runOn(dataDir, "db", "move", "--to", taken.url);
  expect([early.code, early.stderr]).toEqual([
    1,
    expect.stringContaining("does not pass the audit (I5 rows join"),
  ]);
  expect((await runOn(dataDir, "db", "move", "--to", taken.url, "--abandon")).code).toBe(0);
  const again = await runOn(dataDir, "db", "move", "--to", taken.url);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("drop and recreate it")]);
  await onSqlite(dataDir, async (ledger) => {
    await ledger.checkBooks([]);
    const organizationId = owner?.organizationId ?? "";
    expect(await ledger.resume({ organizationId, reason: "changed by hand" }, ALICE)).toEqual({
      kind: "resumed",
    });
    await enters(ledger);
  });
  const moved = await runOn(dataDir, "db", "move", "--to", target.url);
  expect([moved.code, moved.stderr]).toEqual([0, expect.anything()]);
  await onPostgres(
    target.url,
    async (ledger) => {
      const { ok, violations, accepted } = await ledger.verify();
      expect([ok, violations]).toEqual([true, []]);
      expect(accepted.map(({ invariant }) => invariant)).toEqual(["I5 rows join", "I5 rows join"]);
    },
    dataDir,
  );
  await Promise.all([taken.drop(), target.drop()]);
  rmSync(dataDir, { recursive: true, force: true });
});

test("people move with the store: a session continues where the ledger is now", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-people-"));
  const target = await (await testPostgres()).database();
  const { url } = target;
  const run = (port: string, databaseUrl: string | null): Promise<Running> => {
    const config = loadConfig({ env: {}, cwd: dataDir, flags: { port, dataDir } });
    config.databaseUrl = databaseUrl;
    return start(config, { log: createLog("silent") });
  };
  let gateway = await run("0", null);
  const { port } = new URL(gateway.url);
  const browser = new Browser(gateway.url);
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  await browser.app("POST /welcome", {}, { token: tokenOf(gateway.signInLink), ...account });
  await gateway.stop();
  const moved = Bun.spawn([PROGRAM, "--data-dir", dataDir, "db", "move", "--to", url], { stdout: "pipe" });
  const said = await new Response(moved.stdout).text();
  expect(said).toMatch(/^\d+ rows moved; counts, sums and the audit agree\./);
  expect(said.trim()).toEndWith(`start the gateway: ./tollgate --data-dir ${dataDir} serve`);
  gateway = await run(port, url);
  const { person } = await browser.app("GET /session");
  expect(person).toMatchObject({ name: "Ada", operator: true });
  expect(person?.memberships).toEqual([expect.objectContaining({ name: "Demo", role: "owner" })]);
  await gateway.stop();
  await target.drop();
  rmSync(dataDir, { recursive: true, force: true });
});
