// The SQLite store against the conformance suite, and what is its own: one process, private files, faults of the disk,
// and an audit that finds what is planted.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printCutStream } from "../../src/gateway/cut-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite.ts";
import { testClock } from "../support/clock.ts";
import { ledgerConformance } from "./conformance.ts";
import { World } from "./world.ts";

const DAY_MS = 86_400_000;
const idempotency = { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS };
const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
  folders.push(made);
  return made;
};
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })));

/** The sweeper sleeps: a crash here closes the store under its ledger. */
const openLedger = (store: SqliteStore, clock: Clock, sweepEveryMs = DAY_MS): Promise<Ledger> =>
  openSqliteLedger({ store, clock, idempotency, printCut: printCutStream, sweepEveryMs });

ledgerConformance("SQLite", async (clock) => {
  const directory = folder();
  let store = openSqliteStore(directory);
  let ledger = await openLedger(store, clock);
  return {
    ledger,
    crash: async () => {
      store.close(); // the lock goes with the process; nothing of the ledger is finished
      store = openSqliteStore(directory);
      ledger = await openLedger(store, clock);
      return ledger;
    },
    close: async () => {
      await ledger.close();
      store.close();
    },
  };
});

describe("SQLite: the data directory", () => {
  test("a second process is refused with the pid of the first, which goes on", async () => {
    const directory = folder();
    const store = openSqliteStore(directory);
    const child = Bun.spawn(
      [
        process.execPath,
        "-e",
        `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dir, "../../src/store/sqlite.ts"))}; openSqliteStore(${JSON.stringify(directory)});`,
      ],
      { stderr: "pipe" },
    );
    const said = await new Response(child.stderr).text();
    expect(await child.exited).not.toBe(0);
    expect(said).toContain(String(process.pid));
    const ledger = await openLedger(store, systemClock);
    expect(ledger.ready()).toBe(true);
    await ledger.close();
    store.close();
  });

  test("its files are for their owner only, also when they were not", () => {
    const directory = folder();
    openSqliteStore(directory).close();
    for (const name of ["tollgate.sqlite", "data.key"])
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    chmodSync(join(directory, "data.key"), 0o644);
    openSqliteStore(directory).close();
    expect(statSync(join(directory, "data.key")).mode & 0o777).toBe(0o600);
  });

  test("a newer schema is refused with what to do", () => {
    const directory = folder();
    openSqliteStore(directory).close();
    const database = new Database(join(directory, "tollgate.sqlite"));
    database.run(
      "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (999, 'future', 'x', 0)",
    );
    database.close();
    expect(() => openSqliteStore(directory)).toThrow(/newer program/);
  });

  test("a store without its data key is refused, not opened with a new one", () => {
    const directory = folder();
    openSqliteStore(directory).close();
    rmSync(join(directory, "data.key"));
    expect(() => openSqliteStore(directory)).toThrow(/data\.key/);
  });

  test("stored answers are unreadable without the key", async () => {
    const directory = folder();
    const store = openSqliteStore(directory);
    const world = new World(await openLedger(store, systemClock));
    await world.publish();
    const key = await world.key(await world.organization(5));
    const { id } = await world.admit(key, { hold: 1, idempotencyKey: "idem-key-1" });
    await world.settle(key, id, { dollars: 0.5, answer: "a secret that nobody may read" });
    await world.ledger.close();
    store.writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
    store.close();
    expect(readFileSync(join(directory, "tollgate.sqlite")).includes("nobody may read")).toBe(false);
  });
});

describe("SQLite: the audit finds what is planted", () => {
  const PLANTS: readonly [name: string, sql: readonly string[], invariant: string][] = [
    ["a balance changed by hand", ["UPDATE org_balance SET available = available + 1"], "I2"],
    ["a hold that nobody holds", ["UPDATE org_balance SET held = held + 1"], "I3"],
    [
      "an entry changed",
      [
        "DROP TRIGGER ledger_entry_no_update",
        "UPDATE ledger_entry SET amount = amount + 1 WHERE version = 1",
      ],
      "I5",
    ],
    [
      "an entry removed",
      ["DROP TRIGGER ledger_entry_no_delete", "DELETE FROM ledger_entry WHERE version = 2"],
      "I5",
    ],
    ["a charge changed", ["UPDATE request SET charge = charge - 1 WHERE state = 'settled'"], "I8"],
    [
      "a request settled without an entry",
      [
        "UPDATE request SET state = 'settled', closed_txn = 1, prompt_tokens = 0, completion_tokens = 0, evidence = 'none' WHERE state = 'released'",
      ],
      "I6",
    ],
    ["a key's spend changed", ["UPDATE key_month SET spent = spent + 1"], "I4"],
    ["usage changed", ["UPDATE usage_hour SET charge = charge + 1"], "I14"],
    ["a request after its key's end", ["UPDATE api_key SET revoked_at = 1"], "I15"],
    [
      "a top-up without its entry",
      ["INSERT INTO topup SELECT org_id, 'x', 'y', kind, amount, balance_after, txn, at FROM topup"],
      "I16",
    ],
    ["a claim of another key", ["UPDATE claim SET key_id = 'key_other'"], "I10"],
    [
      "another cost in the stored answer",
      ["UPDATE request SET charge = charge - 1 WHERE idem_key IS NOT NULL"],
      "I9",
    ],
  ];

  test.each(PLANTS.map(([name, sql, invariant]) => ({ name, sql, invariant })))(
    "$name",
    async ({ sql, invariant }) => {
      const directory = folder();
      const store = openSqliteStore(directory);
      const world = new World(await openLedger(store, systemClock));
      await world.publish();
      const key = await world.key(await world.organization(5));
      const settled = await world.admit(key, { hold: 1, idempotencyKey: "idem-key-1" });
      await world.settle(key, settled.id, { dollars: 0.5, answer: "x" });
      const released = await world.admit(key, { hold: 1 });
      await world.void(key, released.id, true);
      expect((await world.ledger.audit()).violations).toEqual([]);
      const other = new Database(join(directory, "tollgate.sqlite"));
      for (const statement of sql) other.run(statement);
      other.close();
      const report = await world.ledger.audit();
      expect(report.ok).toBe(false);
      expect(report.violations.map((violation) => violation.invariant.split(" ")[0])).toContain(invariant);
      await world.ledger.close();
      store.close();
    },
  );
});

describe("SQLite: the sweeper", () => {
  test("a request that its owner has given up ends a minute after its deadline, by what was kept of it", async () => {
    const store = openSqliteStore(folder());
    const clock = testClock();
    const world = new World(await openLedger(store, clock, 5));
    await world.publish();
    const key = await world.key(await world.organization(5));
    const silent = await world.admit(key, { hold: 1, idempotencyKey: "given-up-1" });
    const streaming = await world.admit(key, { hold: 1 });
    await world.checkpoint(key, streaming.id, { tokens: 9 });
    clock.advance(60_000 + 59_000); // the deadline of these admissions is after a minute
    await Bun.sleep(50);
    expect(await world.balance(key.organizationId)).toBe("3.00 2.00");
    clock.advance(2_000);
    await Bun.sleep(50);
    expect(await world.balance(key.organizationId)).toBe("4.90 0.00");
    expect((await world.ledger.request(silent.id))?.state).toBe("outcome_unknown");
    expect((await world.admit(key, { hold: 1, idempotencyKey: "given-up-1" })).says).toBe(
      "idempotency_outcome_unknown",
    );
    expect(await world.settle(key, streaming.id, { dollars: 0.5 })).toEqual({ kind: "lost" });
    expect((await world.ledger.audit()).violations).toEqual([]);
    await world.ledger.close();
    store.close();
  });
});

describe("SQLite: faults of the store", () => {
  test("a full disk refuses admissions, loses nothing, and recovers by itself", async () => {
    const store = openSqliteStore(folder());
    const world = new World(await openLedger(store, systemClock));
    await world.publish();
    const key = await world.key(await world.organization(5));
    const running = await world.admit(key, { hold: 1 });
    const pages = Number((store.writer.query("PRAGMA page_count").values()[0]?.[0] ?? 0n) as bigint);
    store.writer.run(`PRAGMA max_page_count = ${pages}`);
    let refused = "";
    for (let n = 0; n < 500 && refused === ""; n += 1) {
      const outcome = await world
        .admit(key, { hold: 0.001 })
        .catch((error: { code?: string }) => ({ says: error.code ?? "", id: "" }));
      if (outcome.says === "overloaded") refused = outcome.says;
      else await world.void(key, outcome.id, true).catch(() => {});
    }
    expect(refused).toBe("overloaded");
    expect(world.ledger.ready()).toBe(false);
    const settling = world.settle(key, running.id, { dollars: 0.5 });
    store.writer.run("PRAGMA max_page_count = 1073741823");
    expect(await settling).toMatchObject({ kind: "done" });
    while (!world.ledger.ready()) await Bun.sleep(10);
    const again = await world.admit(key, { hold: 1 });
    expect(again.says).toBe("admitted");
    await world.void(key, again.id, true);
    await Bun.sleep(50);
    expect((await world.ledger.audit()).violations).toEqual([]);
    await world.ledger.close();
    store.close();
  }, 20_000);
});
