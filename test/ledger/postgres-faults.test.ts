// What can go wrong between a gateway and its PostgreSQL (money.md §7, §12): answers to commits are lost, connections
// are reset, writers conflict, locks are left behind, instances are evicted while they live, and somebody plants
// false data.
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { NO_RATE_DEFAULTS } from "../../src/domain/rate-limits.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { interruptedStreams } from "../../src/gateway/interrupted-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";
import { CLASSED, type KeyInHand, releaseOf, World } from "./world.ts";
import { revokeKey } from "../../src/registry/key-life.ts";
import { setRateLimits } from "../../src/registry/rate-limits.ts";
import { readRequest } from "../../src/registry/requests.ts";

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let database: TestDatabase;
let admin: pg.Client;
let opened: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  database = await (await testPostgres()).migrated();
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
  await admin.end();
  await database.drop();
});

async function open(url = database.url, sweepEveryMs = DAY_MS): Promise<Ledger> {
  const store = await openPostgresStore(url, folder);
  const ledger = await openPostgresLedger({
    store,
    sweepEveryMs,
    idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS },
    printInterrupted: interruptedStreams(FORMATS),
  });
  opened.push({
    close: async () => {
      await ledger.close();
      await store.close();
    },
  });
  return ledger;
}

async function customer(world: World, dollars = 5): Promise<KeyInHand> {
  await world.publish();
  return world.key(await world.organization(dollars));
}

const refused = async (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "taken",
    (error: { code?: string }) => error.code,
  );

const until = (holds: () => Promise<boolean>): Promise<void> => waitFor(holds, "what the test is about");

/** The number of sessions that wait for a lock. */
async function atLocks(): Promise<number> {
  const { rows } = await admin.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows[0]?.n ?? 0;
}

test("one that was evicted comes back under a new number though its directory takes nothing", async () => {
  await open();
  const file = join(folder, `instance-${process.pid}.json`);
  rmSync(file);
  mkdirSync(file);
  try {
    await admin.query("UPDATE instance SET condemned = true");
    await until(async () => {
      const { rows } = await admin.query("SELECT 1 FROM instance WHERE NOT condemned");
      return rows.length === 1;
    });
  } finally {
    rmSync(file, { recursive: true });
  }
}, 120_000);

describe("PostgreSQL: lost answers", () => {
  let proxy: CuttingProxy;
  let world: World;
  let key: KeyInHand;
  const begin = async (): Promise<void> => {
    proxy = await CuttingProxy.start(database.url);
    world = new World(await open(proxy.through(database.url)));
    key = await customer(world);
    opened.push({ close: () => proxy.stop() });
  };

  test("the answer to COMMIT 1 is lost: it is read back, held once and may be sent", async () => {
    await begin();
    proxy.cutAt("COMMIT", "after");
    const { says, id } = await world.admit(key, { hold: 1 });
    expect([says, proxy.cuts]).toEqual(["admitted", 1]);
    expect(await world.balance(key.organizationId)).toBe("4.00 1.00");
    expect(await world.settle(key, id, { dollars: 0.5 })).toMatchObject({ kind: "done" });
    expect((await world.ledger.verify()).violations).toEqual([]);
  });

  test("the answer to COMMIT 2 is lost: it is read back and charged once", async () => {
    await begin();
    const { id } = await world.admit(key, { hold: 1, idempotencyKey: "lost-answer" });
    proxy.cutAt("COMMIT", "after");
    expect(await world.settle(key, id, { dollars: 0.5, answer: "x" })).toMatchObject({ kind: "done" });
    expect([await world.balance(key.organizationId), proxy.cuts]).toEqual(["4.50 0.00", 1]);
    expect((await world.admit(key, { hold: 1, idempotencyKey: "lost-answer" })).says).toBe("replay");
    expect((await world.ledger.verify()).violations).toEqual([]);
  });

  test("COMMIT never arrives: nothing happened, it runs again under the same ids", async () => {
    await begin();
    proxy.cutAt("COMMIT", "before");
    expect((await world.admit(key, { hold: 1 })).says).toBe("admitted");
    expect([await world.balance(key.organizationId), proxy.cuts]).toEqual(["4.00 1.00", 1]);
  });

  test("the connection is lost before anything was committed: refused, nothing is stored, the next one is served", async () => {
    await begin();
    proxy.cutAt("BEGIN", "before");
    expect(await refused(world.admit(key, { hold: 1 }))).toBe("overloaded");
    await until(async () => world.ledger.ready());
    expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
    expect((await world.admit(key, { hold: 1 })).says).toBe("admitted");
  });

  test("the database stays away while a commit is in doubt: refused in time, undone when the outcome is known", async () => {
    await begin();
    proxy.cutAt("COMMIT", "after, and stay away");
    const asked = performance.now();
    expect(await refused(world.admit(key, { hold: 1, idempotencyKey: "in-doubt-1" }))).toBe("overloaded");
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect(await refused(world.admit(key, { hold: 1 }))).toBe("overloaded");
    proxy.restore();
    await until(async () => (await world.balance(key.organizationId).catch(() => "")) === "5.00 0.00");
    expect((await world.admit(key, { hold: 1, idempotencyKey: "in-doubt-1" })).says).toBe("admitted");
    expect((await world.ledger.verify()).violations).toEqual([]);
  }, 120_000);

  test("a settlement outlives a database that is away, and an operator's change is refused", async () => {
    await begin();
    const { id } = await world.admit(key, { hold: 1 });
    proxy.close();
    const settling = world.settle(key, id, { dollars: 0.5 });
    expect(await refused(revokeKey(world.ledger, key.keyId, byItself("test")))).toBe("overloaded");
    expect(await refused(world.ledger.balance(key.organizationId))).toBe("overloaded");
    await until(async () => !world.ledger.ready());
    proxy.restore();
    expect(await settling).toMatchObject({ kind: "done" });
    expect(await world.balance(key.organizationId)).toBe("4.50 0.00");
  });
});

describe("PostgreSQL: conflicting writers", () => {
  test("six gateways on forty organizations in random order: no deadlock reaches a caller, sums are exact", async () => {
    const ledgers = await Promise.all(Array.from({ length: 6 }, () => open()));
    const worlds = ledgers.map((ledger) => new World(ledger));
    const [first] = worlds;
    if (first === undefined) throw new Error("no worlds");
    await first.publish();
    const keys = await Promise.all(
      Array.from({ length: 40 }, async () => first.key(await first.organization(100))),
    );
    let settledCents = 0;
    const work = async (world: World): Promise<void> => {
      for (let round = 0; round < 15; round += 1)
        await Promise.all(
          keys
            .toSorted(() => Math.random() - 0.5)
            .slice(0, 20)
            .map(async (key) => {
              const { id } = await world.admit(key, { hold: 0.1 });
              const outcome = await world.settle(key, id, { dollars: 0.02 });
              if (outcome.kind === "done") settledCents += 2;
            }),
        );
    };
    await Promise.all(worlds.map(work));
    const balances = await Promise.all(
      keys.map(({ organizationId }) => first.ledger.balance(organizationId)),
    );
    const spent = balances.reduce((sum, balance) => sum + (balance?.spent ?? 0n), 0n);
    expect(settledCents).toBe(6 * 15 * 20 * 2);
    expect(spent).toBe(BigInt(settledCents) * 10_000_000n);
    expect((await first.ledger.verify()).violations).toEqual([]);
  }, 120_000);

  test.each(["the route", "the limit"])(
    "a limit for every organization holds on a route that is published at the same moment; first comes %s",
    async (first) => {
      const world = new World(await open());
      const key = await customer(world);
      const [route, model] = ["m@p/second", "m"];
      const limits = { organizationId: "", keyId: "", model, limits: { requestsPerMinute: 1 } };
      const publish = () => world.publish({ route });
      const limit = () =>
        setRateLimits(
          world.ledger,
          { ...limits, by: "operator" },
          { defaults: NO_RATE_DEFAULTS, actor: byItself("test") },
        );
      const keeper = new pg.Client({ connectionString: database.url });
      await keeper.connect();
      await keeper.query("BEGIN");
      await keeper.query("LOCK TABLE audit_log IN SHARE MODE"); // just before the end of either
      const one = first === "the route" ? publish() : limit();
      await until(async () => (await atLocks()) === 1);
      const other = first === "the route" ? limit() : publish();
      await until(async () => (await atLocks()) === 2);
      await keeper.query("COMMIT");
      await keeper.end();
      expect([(await one).kind, (await other).kind].toSorted()).toEqual(["published", "set"]);
      const admit = () => world.admit(key, { hold: 0.1, release: releaseOf({ route }) });
      expect([(await admit()).says, (await admit()).says]).toEqual(["admitted", "rate_limit_exceeded"]);
    },
  );

  test("an operation that the database refuses fails alone; its batch continues", async () => {
    const world = new World(await open());
    const key = await customer(world);
    const tooMuch = {
      organizationId: key.organizationId,
      kind: "grant",
      source: "t",
      externalId: "t",
    } as const;
    const [bad, ...good] = await Promise.allSettled([
      world.ledger.topUp({ ...tooMuch, amount: (2n ** 63n) as never }, byItself("test")),
      ...Array.from({ length: 8 }, () => world.admit(key, { hold: 0.5 })),
    ]);
    expect(bad.status).toBe("rejected");
    expect(good.map(({ status }) => status)).toEqual(Array<"fulfilled">(8).fill("fulfilled"));
    expect(await world.balance(key.organizationId)).toBe("1.00 4.00");
  });

  test("a lock that a half-open client left is freed; the others wait no longer than two seconds", async () => {
    const world = new World(await open());
    const key = await customer(world);
    const store = await openPostgresStore(database.url, folder);
    const begun = performance.now();
    await world.admit(key, { hold: 0.1 });
    const usualMs = performance.now() - begun; // what a slow machine takes anyway
    const hung = await store.connect("hung");
    await hung.query("BEGIN");
    await hung.query("SELECT 1 FROM org_balance FOR UPDATE");
    const asked = performance.now();
    expect((await world.admit(key, { hold: 1 })).says).toBe("admitted");
    expect(performance.now() - asked).toBeLessThan(10_000 + usualMs);
    await hung.end().catch(() => {});
    await store.close();
  }, 120_000);

  test("a lock that is kept: operations that need it are refused after three tries at most, and served once it is free", async () => {
    const world = new World(await open());
    const key = await customer(world);
    await admin.query("BEGIN"); // without the limits of a gateway's sessions
    await admin.query("SELECT 1 FROM org_balance FOR UPDATE");
    const asked = performance.now();
    expect(await refused(world.admit(key, { hold: 1 }))).toBe("overloaded");
    expect(performance.now() - asked).toBeLessThan(30_000);
    await admin.query("ROLLBACK");
    await until(async () => (await refused(world.admit(key, { hold: 1 }))) === "taken");
    expect((await world.ledger.verify()).violations).toEqual([]);
  }, 120_000);
});

describe("PostgreSQL: who owns a request", () => {
  test("an instance that is evicted while it lives: swept once, its settlement is lost, then it comes back", async () => {
    const frozen = new World(await open());
    const key = await customer(frozen);
    const { id } = await frozen.admit(key, { hold: 1, idempotencyKey: "frozen-one" });
    await admin.query("UPDATE instance SET lease_until = 1, condemned = true");
    const other = new World(await open(database.url, 20));
    await until(async () => (await readRequest(other.ledger, id))?.state === "outcome_unknown");
    expect(await frozen.settle(key, id, { dollars: 0.5 })).toEqual({ kind: "lost" });
    expect((await frozen.admit(key, { hold: 1 })).says).toBe("overloaded"); // it does not know it yet
    expect(await frozen.balance(key.organizationId)).toBe("5.00 0.00");
    await until(async () => (await frozen.admit(key, { hold: 0.1 })).says === "admitted");
    expect((await other.admit(key, { hold: 1, idempotencyKey: "frozen-one" })).says).toBe(
      "idempotency_outcome_unknown",
    );
    expect((await other.ledger.verify()).violations).toEqual([]);
  }, 120_000);

  test("what an older gateway version left held and unsent: its key is free again", async () => {
    const world = new World(await open());
    const key = await customer(world);
    const { id } = await world.admit(key, { hold: 1, idempotencyKey: "unsent-one" });
    await admin.query("UPDATE request SET state = 'admitted'");
    await admin.query("UPDATE instance SET lease_until = 0, condemned = true");
    const other = new World(await open());
    expect((await readRequest(other.ledger, id))?.state).toBe("released");
    expect((await other.admit(key, { hold: 1, idempotencyKey: "unsent-one" })).says).toBe("admitted");
  });
});

describe("PostgreSQL: the audit finds what is planted", () => {
  const PLANTS: readonly [name: string, sql: string, invariant: string][] = [
    ["a balance changed by hand", "UPDATE org_balance SET available = available + 1", "I2"],
    ["a hold that nobody holds", "UPDATE org_balance SET held = held + 1", "I3"],
    ["an entry changed", "UPDATE ledger_entry SET amount = amount + 1 WHERE version = 1", "I5"],
    ["an entry removed", "DELETE FROM ledger_entry WHERE version = 2", "I5"],
    ["a charge changed", "UPDATE request SET charge = charge - 1 WHERE state = 'settled'", "I8"],
    ["classes that are no JSON", "UPDATE request SET usage_classes = '{' WHERE state = 'settled'", "I8"],
    ["classes that are none", "UPDATE request SET usage_classes = '7' WHERE state = 'settled'", "I8"],
    [
      "a request settled without an entry",
      "UPDATE request SET state = 'settled', closed_txn = 1, prompt_tokens = 0, completion_tokens = 0, evidence = 'none' WHERE state = 'released'",
      "I6",
    ],
    ["a key's spend changed", "UPDATE key_month SET spent = spent + 1", "I4"],
    ["usage changed", "UPDATE usage_hour SET charge = charge + 1", "I14"],
    ["cached tokens of an hour changed", "UPDATE usage_hour SET cached_tokens = cached_tokens + 1", "I14"],
    [
      "cache writes of an hour changed",
      "UPDATE usage_hour SET cache_write_tokens = cache_write_tokens + 1",
      "I14",
    ],
    [
      "cached tokens of a request changed",
      "UPDATE request SET cached_tokens = 6 WHERE state = 'settled'",
      "I14",
    ],
    ["cache writes of a request forgotten", "UPDATE request SET usage_classes = NULL", "I14"],
    ["usage forgotten", "DELETE FROM usage_hour", "I14"],
    ["a request after its key's end", "UPDATE api_key SET revoked_at = 1", "I15"],
    [
      "a top-up without its entry",
      "INSERT INTO topup SELECT org_id, 'x', 'y', kind, amount, balance_after, txn, at FROM topup",
      "I16",
    ],
    ["the amount of a top-up", "UPDATE topup SET amount = amount + 1", "I16"],
    [
      "what was paid in, as granted",
      "UPDATE org_balance SET granted = granted + purchased, purchased = 0",
      "I12",
    ],
    [
      "a debt for something that was never spent",
      "UPDATE org_balance SET spent = spent + 1, debt = debt + 1",
      "I12",
    ],
    [
      "limits that nobody looks for",
      "INSERT INTO rate_limit (org_id, key_id, model, concurrent, requests_tat, tokens_tat, used_tat, running, since) SELECT org_id, '', '', 1, 0, 0, 0, 0, 0 FROM org_balance",
      "I19",
    ],
    [
      "a limit for every organization that nobody looks for",
      "INSERT INTO rate_limit (org_id, key_id, model, concurrent, requests_tat, tokens_tat, used_tat, running, since) VALUES ('', '', 'm', 1, 0, 0, 0, 0, 0)",
      "I19",
    ],
    [
      "a prompt bound below what was charged for",
      "UPDATE request SET prompt_bound = 49 WHERE state = 'settled'",
      "I7",
    ],
    ["a claim of another key", "UPDATE claim SET key_id = 'key_other'", "I10"],
    [
      "another cost in the stored answer",
      "UPDATE request SET charge = charge - 1 WHERE idem_key IS NOT NULL",
      "I9",
    ],
  ];

  test.each(PLANTS.map(([name, sql, invariant]) => ({ name, sql, invariant })))(
    "$name",
    async ({ sql, invariant }) => {
      const world = new World(await open());
      const key = await customer(world);
      const settled = await world.admit(key, { hold: 1, idempotencyKey: "idem-key-1" });
      await world.settle(key, settled.id, { dollars: 0.5, answer: "x", usage: CLASSED });
      const released = await world.admit(key, { hold: 1 });
      await world.void(key, released.id, true);
      expect((await world.ledger.verify()).violations).toEqual([]);
      await admin.query(sql);
      const report = await world.ledger.verify();
      expect(report.ok).toBe(false);
      expect(report.violations.map((violation) => violation.invariant.split(" ")[0])).toContain(invariant);
    },
  );

  test("an answer whose request is gone hides none of those after it", async () => {
    const world = new World(await open());
    const key = await customer(world, 50);
    for (let n = 0; n < 25; n += 1) {
      const { id } = await world.admit(key, { hold: 1, idempotencyKey: `answer-${n}` });
      await world.settle(key, id, { dollars: 0.5, answer: "x" });
    }
    const { rows } = await admin.query<{ request_id: string }>(
      "SELECT request_id FROM result ORDER BY request_id",
    );
    await admin.query("DELETE FROM request WHERE request_id = $1", [rows[0]?.request_id]);
    await admin.query("UPDATE request SET charge = charge - 1 WHERE request_id = $1", [
      rows.at(-1)?.request_id,
    ]);
    const told = (await world.ledger.verify()).violations.filter(({ invariant }) =>
      invariant.startsWith("I9"),
    );
    expect(told.map(({ requestId }) => requestId)).toEqual([
      rows[0]?.request_id ?? "",
      rows.at(-1)?.request_id ?? "",
    ]);
  });
});
