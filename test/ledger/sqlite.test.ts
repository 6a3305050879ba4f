// The SQLite store against the conformance suite, and its own properties: one process, private files, disk faults,
// and an audit that finds planted data.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { NO_RATE_DEFAULTS } from "../../src/domain/rate-limits.ts";
import { interruptedStreams } from "../../src/gateway/interrupted-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite.ts";
import { testClock } from "../support/clock.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { placeMigratedStore } from "../support/migrated-store.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { reads } from "../support/wait.ts";
import { ledgerConformance } from "./conformance.ts";
import { keySettingsConformance } from "./key-settings.ts";
import { rateConformance } from "./rate-limits.ts";
import { CLASSED, type OpenLedger, World } from "./world.ts";
import { readRequest } from "../../src/registry/requests.ts";

const DAY_MS = 86_400_000;
const idempotency = { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS };
const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
  folders.push(made);
  return made;
};
/** One whose store needs no migration. */
const migratedFolder = (): string => {
  const made = folder();
  placeMigratedStore(made);
  return made;
};
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })));

/** The sweeper is off: a crash here closes the store under its ledger. */
const openLedger = (
  store: SqliteStore,
  clock: Clock,
  sweepEveryMs = DAY_MS,
  rateDefaults = NO_RATE_DEFAULTS,
): Promise<Ledger> =>
  openSqliteLedger({
    store,
    rateDefaults,
    clock,
    idempotency,
    printInterrupted: interruptedStreams(FORMATS),
    sweepEveryMs,
  });

const openAny: OpenLedger = async (clock) => {
  const directory = migratedFolder();
  let store = openSqliteStore(directory);
  let ledger = await openLedger(store, clock);
  return {
    ledger,
    crash: async () => {
      store.close(); // the lock ends with the process; the ledger finishes nothing
      store = openSqliteStore(directory);
      ledger = await openLedger(store, clock);
      return ledger;
    },
    close: async () => {
      await ledger.close();
      store.close();
    },
  };
};
ledgerConformance("SQLite", openAny);
keySettingsConformance("SQLite", openAny);

rateConformance("SQLite", async (clock, rateDefaults) => {
  const store = openSqliteStore(migratedFolder());
  const ledger = await openLedger(store, clock, DAY_MS, rateDefaults);
  return {
    ledger,
    crash: () => Promise.reject(new Error("not here")),
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

  test("its files are for their owner only, even if they were not before", () => {
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
    ["classes that are no JSON", ["UPDATE request SET usage_classes = '{' WHERE state = 'settled'"], "I8"],
    ["classes that are none", ["UPDATE request SET usage_classes = '7' WHERE state = 'settled'"], "I8"],
    [
      "a request settled without an entry",
      [
        "UPDATE request SET state = 'settled', closed_txn = 1, prompt_tokens = 0, completion_tokens = 0, evidence = 'none' WHERE state = 'released'",
      ],
      "I6",
    ],
    ["a key's spend changed", ["UPDATE key_month SET spent = spent + 1"], "I4"],
    ["usage changed", ["UPDATE usage_hour SET charge = charge + 1"], "I14"],
    ["cached tokens of an hour changed", ["UPDATE usage_hour SET cached_tokens = cached_tokens + 1"], "I14"],
    [
      "cache writes of an hour changed",
      ["UPDATE usage_hour SET cache_write_tokens = cache_write_tokens + 1"],
      "I14",
    ],
    [
      "cached tokens of a request changed",
      ["UPDATE request SET cached_tokens = 6 WHERE state = 'settled'"],
      "I14",
    ],
    ["cache writes of a request forgotten", ["UPDATE request SET usage_classes = NULL"], "I14"],
    ["a request after its key's end", ["UPDATE api_key SET revoked_at = 1"], "I15"],
    [
      "a top-up without its entry",
      ["INSERT INTO topup SELECT org_id, 'x', 'y', kind, amount, balance_after, txn, at FROM topup"],
      "I16",
    ],
    [
      "the amount of a top-up",
      ["DROP TRIGGER topup_no_update", "UPDATE topup SET amount = amount + 1"],
      "I16",
    ],
    [
      "what was paid in, as granted",
      ["UPDATE org_balance SET granted = granted + purchased, purchased = 0"],
      "I12",
    ],
    [
      "a debt for something that was never spent",
      ["UPDATE org_balance SET spent = spent + 1, debt = debt + 1"],
      "I12",
    ],
    [
      "limits that nobody looks for",
      [
        "INSERT INTO rate_limit (org_id, key_id, model, concurrent, requests_tat, tokens_tat, used_tat, running, since) SELECT org_id, '', '', 1, 0, 0, 0, 0, 0 FROM org_balance",
      ],
      "I19",
    ],
    [
      "a limit for every organization that nobody looks for",
      [
        "INSERT INTO rate_limit (org_id, key_id, model, concurrent, requests_tat, tokens_tat, used_tat, running, since) VALUES ('', '', 'm', 1, 0, 0, 0, 0, 0)",
      ],
      "I19",
    ],
    [
      "a prompt bound below what was charged for",
      ["UPDATE request SET prompt_bound = 49 WHERE state = 'settled'"],
      "I7",
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
      const directory = migratedFolder();
      const store = openSqliteStore(directory);
      const world = new World(await openLedger(store, systemClock));
      await world.publish();
      const key = await world.key(await world.organization(5));
      const settled = await world.admit(key, { hold: 1, idempotencyKey: "idem-key-1" });
      await world.settle(key, settled.id, { dollars: 0.5, answer: "x", usage: CLASSED });
      const released = await world.admit(key, { hold: 1 });
      await world.void(key, released.id, true);
      expect((await world.ledger.verify()).violations).toEqual([]);
      const other = new Database(join(directory, "tollgate.sqlite"));
      for (const statement of sql) other.run(statement);
      other.close();
      const report = await world.ledger.verify();
      expect(report.ok).toBe(false);
      expect(report.violations.map((violation) => violation.invariant.split(" ")[0])).toContain(invariant);
      await world.ledger.close();
      store.close();
    },
  );
});

describe("SQLite: the sweeper", () => {
  test("a request that its owner has given up ends a minute after its deadline, by what was kept of it", async () => {
    const store = openSqliteStore(migratedFolder());
    const clock = testClock();
    const world = new World(await openLedger(store, clock, 5));
    await world.publish();
    const key = await world.key(await world.organization(5));
    const silent = await world.admit(key, { hold: 1, idempotencyKey: "given-up-1" });
    const streaming = await world.admit(key, { hold: 1 });
    await world.checkpoint(key, streaming.id, { tokens: 9 });
    clock.pass(60_000 + 59_000); // the deadline of these admissions is after a minute
    await Bun.sleep(50);
    expect(await world.balance(key.organizationId)).toBe("3.00 2.00");
    clock.pass(2_000);
    await reads(() => world.balance(key.organizationId), "4.90 0.00");
    expect((await readRequest(world.ledger, silent.id))?.state).toBe("outcome_unknown");
    expect((await world.admit(key, { hold: 1, idempotencyKey: "given-up-1" })).says).toBe(
      "idempotency_outcome_unknown",
    );
    expect(await world.settle(key, streaming.id, { dollars: 0.5 })).toEqual({ kind: "lost" });
    expect((await world.ledger.verify()).violations).toEqual([]);
    await world.ledger.close();
    store.close();
  });
});

describe("SQLite: faults of the store", () => {
  test("a full disk refuses admissions, loses nothing, and recovers by itself", async () => {
    const store = openSqliteStore(migratedFolder());
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
    expect((await world.ledger.verify()).violations).toEqual([]);
    await world.ledger.close();
    store.close();
  }, 120_000);

  test("half a frame at the end of the log, as a power failure leaves it: every acknowledged commit is there", async () => {
    const directory = folder();
    const script = `
      import { openSqliteLedger } from ${JSON.stringify(join(import.meta.dir, "../../src/ledger/sqlite/ledger.ts"))};
      import { openSqliteStore } from ${JSON.stringify(join(import.meta.dir, "../../src/store/sqlite.ts"))};
      import { World } from ${JSON.stringify(join(import.meta.dir, "world.ts"))};
      const clock = { nowMs: Date.now, monotonicMs: () => performance.now() };
      const idempotency = { bodyRetentionMs: 1e9, tombstoneRetentionMs: 1e9 };
      const store = openSqliteStore(${JSON.stringify(directory)});
      const ledger = await openSqliteLedger({ store, clock, idempotency, printInterrupted: () => { throw new Error(); } });
      const world = new World(ledger);
      await world.publish();
      const key = await world.key(await world.organization(5));
      for (let n = 0; n < 20; n += 1) {
        const { id } = await world.admit(key, { hold: 0.1 });
        await world.settle(key, id, { dollars: 0.01 });
        console.log(key.organizationId);
      }
      process.kill(process.pid, "SIGKILL");`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    const acknowledged = (await new Response(child.stdout).text()).trim().split("\n");
    expect(acknowledged.length).toBe(20);
    const log = join(directory, "tollgate.sqlite-wal");
    expect(statSync(log).size).toBeGreaterThan(0);
    appendFileSync(log, readFileSync(log).subarray(32, 32 + 2_000)); // a frame is a page and its header: this is less
    const store = openSqliteStore(directory);
    const ledger = await openLedger(store, systemClock);
    const balance = await ledger.balance(acknowledged[0] ?? "");
    expect(balance).toMatchObject({ available: 4_800_000_000n, held: 0n, spent: 200_000_000n });
    expect((await ledger.verify()).violations).toEqual([]);
    await ledger.close();
    store.close();
  });

  const UNLUCKY = [
    ["was done all the same", true],
    ["was not done", false],
  ] as const;
  describe.each(UNLUCKY)("COMMIT reports an I/O error though it %s", (_, done) => {
    test("a caller who can wait for the outcome is told what happened, once", async () => {
      const { world, key, running, faulty } = await faultyWorld(done);
      faulty.failNext();
      const admitting = world.admit(key, { hold: 1, idempotencyKey: "unlucky-1" });
      expect((await admitting).says).toBe("admitted");
      while (!world.ledger.ready()) await Bun.sleep(5);
      expect(await world.balance(key.organizationId)).toBe("3.00 2.00");

      faulty.failNext();
      expect((await world.settle(key, running.id, { dollars: 0.5, answer: "kept" })).kind).toBe("done");
      expect(await world.balance(key.organizationId)).toBe("3.50 1.00");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "running-1" })).says).toBe("replay");
      expect((await world.ledger.verify()).violations).toEqual([]);
      await world.ledger.close();
      faulty.store.close();
    });
  });

  // Concurrently: each waits for as long as a commit is waited for.
  test.concurrent.each(UNLUCKY)(
    "COMMIT reports an I/O error though it %s > a store that stays away: refused after three seconds, nothing is dispatched on it, and it is taken back",
    async (_, done) => {
      const { world, key, running, faulty } = await faultyWorld(done);
      faulty.failNext("away");
      const admission = world.admission(key, { hold: 1, idempotencyKey: "unlucky-1" });
      const beganMs = performance.now();
      expect(await world.ledger.admit(admission).catch((error: { code?: string }) => error.code)).toBe(
        "overloaded",
      );
      expect(performance.now() - beganMs).toBeGreaterThan(2_900);
      expect(world.ledger.ready()).toBe(false);
      const settling = world.settle(key, running.id, { dollars: 0.5, answer: "kept" });
      faulty.comeBack();
      while (!world.ledger.ready()) await Bun.sleep(5);
      expect((await settling).kind).toBe("done");
      await reads(() => world.balance(key.organizationId), "4.50 0.00");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "unlucky-1" })).says).toBe("admitted"); // its key is free
      expect((await world.ledger.verify()).violations).toEqual([]);
      await world.ledger.close();
      faulty.store.close();
    },
  );

  const disk = SmallDisk.mount(40);
  afterAll(() => disk.release());

  // Needs the right to mount a small disk; without it the test above covers everything but the reserve file.
  test.skipIf(!disk.isMounted)(
    "a disk that is really full: what runs is settled into the reserve file, and no new money is held without it",
    async () => {
      const store = openSqliteStore(join(disk.path, "data"));
      const world = new World(await openLedger(store, systemClock));
      await world.publish();
      const key = await world.key(await world.organization(5));
      const running = await Promise.all(
        Array.from({ length: 20 }, (_, n) => world.admit(key, { hold: 0.1, idempotencyKey: `running-${n}` })),
      );
      const hog = join(disk.path, "hog");
      fillDisk(hog);
      let refused = "";
      for (let n = 0; n < 5_000 && refused === ""; n += 1) {
        const outcome = await world
          .admit(key, { hold: 0.0001, idempotencyKey: `filling-${n}` })
          .catch((error: { code?: string }) => ({ says: error.code ?? "" }));
        if (outcome.says !== "admitted") refused = outcome.says;
      }
      expect(refused).toBe("overloaded");
      // 20 answers of 100 KB each: much more than was left, and less than the reserve file.
      const settled = await Promise.all(
        running.map(({ id }) => world.settle(key, id, { dollars: 0.05, answer: "x".repeat(100_000) })),
      );
      expect(settled.map(({ kind }) => kind)).toEqual(running.map(() => "done"));
      await Bun.sleep(300); // the store is retried again and again
      expect(world.ledger.ready()).toBe(false);
      expect(await world.admit(key, { hold: 1 }).catch((error: { code?: string }) => error.code)).toBe(
        "overloaded",
      );
      rmSync(hog);
      while (!world.ledger.ready()) await Bun.sleep(10);
      expect((await world.admit(key, { hold: 1 })).says).toBe("admitted");
      expect((await world.ledger.verify()).violations).toEqual([]);
      await world.ledger.close();
      store.close();
    },
    120_000,
  );
});

/** Five dollars, of which a running keyed request holds one. */
async function faultyWorld(done: boolean) {
  const faulty = failingCommits(openSqliteStore(migratedFolder()), done);
  const world = new World(await openLedger(faulty.store, systemClock));
  await world.publish();
  const key = await world.key(await world.organization(5));
  const running = await world.admit(key, { hold: 1, idempotencyKey: "running-1" });
  return { faulty, world, key, running };
}

/** How bun:sqlite's `SQLiteError` is recognized. */
const IO_ERROR = { name: "SQLiteError", code: "SQLITE_IOERR_FSYNC" };

/** A store whose next COMMIT reports an I/O error, after or instead of succeeding. */
function failingCommits(
  real: SqliteStore,
  done: boolean,
): { store: SqliteStore; failNext(stays?: "away"): void; comeBack(): void } {
  let armed = false;
  let away = false;
  const reopen = (): Database => {
    if (away) throw Object.assign(new Error("disk I/O error"), IO_ERROR);
    return real.reopen();
  };
  const commit = (statement: { run(): unknown }): unknown => {
    if (!armed) return statement.run();
    armed = false;
    if (done) statement.run();
    throw Object.assign(new Error("disk I/O error"), IO_ERROR);
  };
  const writer = (): Database =>
    new Proxy(real.writer, {
      get: (target, name) => {
        if (name === "prepare")
          return (sql: string) => {
            const statement = target.prepare(sql);
            return sql === "COMMIT" ? { run: () => commit(statement) } : statement;
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const store = new Proxy(real, {
    get: (target, name) =>
      name === "writer" ? writer() : name === "reopen" ? reopen : Reflect.get(target, name, target),
  });
  return {
    store,
    failNext: (stays) => {
      armed = true;
      away = stays === "away";
    },
    comeBack: () => {
      away = false;
    },
  };
}
