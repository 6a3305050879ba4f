// What a gateway on PostgreSQL remembers of the requests that it admitted, besides a limit that each of them counts
// for: it is released with each of them, however it ends, and with those that never began. If another gateway has
// changed what is remembered, the store counts.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { byItself } from "../../src/domain/actor.ts";
import { NO_RATE_DEFAULTS } from "../../src/domain/rate-limits.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { OwnRequests } from "../../src/ledger/postgres/own-requests.ts";
import { putInQuarantine } from "../../src/ledger/quarantine.ts";
import { setRateLimits } from "../../src/registry/rate-limits.ts";
import { readRequest } from "../../src/registry/requests.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";
import { type KeyInHand, World } from "./world.ts";

const DAY_MS = 86_400_000;
const LIMITS = { requestsPerMinute: 1000, tokensPerMinute: 1_000_000_000, concurrent: 100 };

let database: TestDatabase;
let proxy: CuttingProxy;
let admin: pg.Client;
let folder: string;
let closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-own-"));
  database = await (await testPostgres()).migrated();
  proxy = await CuttingProxy.start(database.url);
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await proxy.stop();
  await admin.end();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function open(url = database.url, sweepEveryMs = DAY_MS): Promise<{ world: World; own: OwnRequests }> {
  const store = await openPostgresStore(url, folder);
  const own = new OwnRequests();
  const ledger: Ledger = await openPostgresLedger({
    store,
    sweepEveryMs,
    own,
    idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS },
    printInterrupted: () => null,
  });
  closing.push(async () => {
    await ledger.close();
    await store.close();
  });
  return { world: new World(ledger), own };
}

/** With a limit known to this process: its first request has ended. */
async function limited({ world, own }: { world: World; own: OwnRequests }): Promise<KeyInHand> {
  await world.publish();
  const key = await world.key(await world.organization(100));
  const { organizationId, keyId } = key;
  const change = { organizationId, keyId, model: "", limits: LIMITS, by: "operator" } as const;
  await setRateLimits(world.ledger, change, { defaults: NO_RATE_DEFAULTS, actor: byItself("test") });
  await world.settle(key, await begin(world, key), { dollars: 0.1 });
  expect(own.size).toBe(0);
  return key;
}

async function begin(world: World, key: KeyInHand): Promise<string> {
  const { id, says } = await world.admit(key, { hold: 1 });
  expect(says).toBe("admitted");
  return id;
}

const runningOf = async ({ keyId }: KeyInHand): Promise<number> => {
  const { rows } = await admin.query<{ running: string }>(
    "SELECT running FROM rate_limit WHERE key_id = $1",
    [keyId],
  );
  return Number(rows[0]?.running);
};

test("each running request is remembered once, and none that was settled, voided or refused", async () => {
  const one = await open();
  const { world, own } = one;
  const key = await limited(one);
  const ids = await Promise.all(Array.from({ length: 20 }, () => begin(world, key)));
  expect(own.size).toBe(20);
  expect(own.placeOf(ids[0] ?? "")).toMatchObject({
    organizationId: key.organizationId,
    keyId: key.keyId,
    model: "m",
  });
  expect((await world.admit(key, { hold: 1000 })).says).toBe("insufficient_credits");
  expect(own.size).toBe(20);
  await Promise.all(ids.slice(0, 10).map((id) => world.settle(key, id, { dollars: 0.1 })));
  expect(own.size).toBe(10);
  await Promise.all(ids.slice(10).map((id) => world.void(key, id, true)));
  expect([own.size, await runningOf(key)]).toEqual([0, 0]);
});

test("one that another gateway recovered is forgotten when its own reports how it ended", async () => {
  const one = await open();
  const key = await limited(one);
  const id = await begin(one.world, key);
  await admin.query("UPDATE instance SET lease_until = 1, condemned = true");
  const other = await open(database.url, 20);
  await waitFor(
    async () => (await readRequest(other.world.ledger, id))?.state === "outcome_unknown",
    "its recovery",
  );
  expect(await one.world.settle(key, id, { dollars: 0.5 })).toEqual({ kind: "lost" });
  expect([one.own.size, other.own.size, await runningOf(key)]).toEqual([0, 0, 0]);
}, 120_000);

test("one whose end nobody reports is forgotten with its orphan", async () => {
  const one = await open(database.url, 20);
  const key = await limited(one);
  const id = await begin(one.world, key);
  await admin.query("UPDATE request SET deadline_at = 1 WHERE request_id = $1", [id]);
  await waitFor(
    async () => (await readRequest(one.world.ledger, id))?.state === "outcome_unknown",
    "its end",
  );
  // Others see its end at the commit, its own gateway when the commit has answered.
  await waitFor(async () => one.own.size === 0, "its memory");
  expect(await runningOf(key)).toBe(0);
}, 120_000);

test("one that is ended by hand is forgotten", async () => {
  const one = await open();
  const key = await limited(one);
  const requestId = await begin(one.world, key);
  const { organizationId } = key;
  await putInQuarantine(one.world.ledger, { organizationId, requestId }, "a test");
  const ending = { organizationId, requestId, charge: null, reason: "a test" };
  expect(await one.world.ledger.endByHand(ending, byItself("test"))).toMatchObject({ kind: "ended" });
  expect([one.own.size, await runningOf(key)]).toEqual([0, 0]);
});

test("a quarantined one is forgotten: a person ends it, at whichever gateway", async () => {
  const one = await open(database.url, 20);
  const key = await limited(one);
  const id = await begin(one.world, key);
  await admin.query("UPDATE request SET attempts = '{', deadline_at = 1 WHERE request_id = $1", [id]);
  await waitFor(
    async () => (await admin.query("SELECT 1 FROM quarantine")).rows.length === 1,
    "the quarantine",
  );
  await waitFor(async () => one.own.size === 0, "its memory");
}, 120_000);

test("an admission that never happened is not remembered: the store went away before its commit", async () => {
  const one = await open(proxy.through(database.url));
  const key = await limited(one);
  proxy.cutAt("COMMIT", "before, and stay away");
  const asked = await Promise.allSettled([one.world.admit(key, { hold: 1 })]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected"]);
  expect(one.own.size).toBe(0);
  proxy.restore();
  await waitFor(async () => one.world.ledger.ready(), "the store");
  expect([one.own.size, await runningOf(key)]).toEqual([0, 0]);
}, 120_000);

test("one whose commit was in doubt is undone and forgotten, even if it is settled meanwhile", async () => {
  const one = await open(proxy.through(database.url));
  const key = await limited(one);
  const id = await begin(one.world, key);
  proxy.cutAt("COMMIT", "after, and stay away");
  const asked = await Promise.allSettled([one.world.admit(key, { hold: 1 })]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected"]);
  const settling = one.world.settle(key, id, { dollars: 0.1 });
  await Bun.sleep(100);
  expect(one.own.size).toBeLessThanOrEqual(2);
  proxy.restore();
  expect(await settling).toMatchObject({ kind: "done" });
  await waitFor(async () => (await runningOf(key)) === 0, "what was taken back");
  await waitFor(async () => one.own.size === 0, "its memory");
}, 120_000);

/** An organization's balance, after checking that its books are consistent. */
async function standing(
  world: World,
  { organizationId }: KeyInHand,
): Promise<{ held: bigint; spent: bigint }> {
  expect((await world.ledger.verify()).violations).toEqual([]);
  const { rows } = await admin.query<{ held: string; spent: string }>(
    "SELECT held, spent FROM org_balance WHERE org_id = $1 AND slot = 0",
    [organizationId],
  );
  return { held: BigInt(rows[0]?.held ?? 0), spent: BigInt(rows[0]?.spent ?? 0) };
}

test("the row of an own request is not read at its end; that of another gateway's is", async () => {
  const one = await open(proxy.through(database.url));
  const other = await open();
  const key = await limited(one);
  const [own, foreign] = [await begin(one.world, key), await begin(other.world, key)];
  proxy.cutAt("requests_one", "before");
  expect(await one.world.settle(key, own, { dollars: 0.1 })).toMatchObject({ kind: "done" });
  expect(proxy.cuts).toBe(0);
  expect(await one.world.settle(key, foreign, { dollars: 0.1 })).toEqual({ kind: "lost" });
  expect(proxy.cuts).toBe(1);
  expect(await other.world.settle(key, foreign, { dollars: 0.1 })).toMatchObject({ kind: "done" });
}, 120_000);

test("one that another gateway lowered is settled on its current hold, together with unchanged ones", async () => {
  const one = await open();
  const other = await open();
  const key = await limited(one);
  const ids = await Promise.all(Array.from({ length: 6 }, () => begin(one.world, key)));
  const lower = ids.slice(0, 2).map((id) => ({ id, to: 0.4 }));
  expect((await other.world.admit(key, { hold: 3, lower })).says).toBe("admitted");
  const settled = await Promise.all(ids.map((id) => one.world.settle(key, id, { dollars: 0.3 })));
  expect(settled.map(({ kind }) => kind)).toEqual(ids.map(() => "done"));
  expect(await standing(one.world, key)).toEqual({ held: 3_000_000_000n, spent: 1_900_000_000n });
  expect([one.own.size, await runningOf(key)]).toEqual([0, 1]);
}, 120_000);

test("a charge above what another gateway left of the hold changes nothing, and affects no settlement beside it", async () => {
  const one = await open();
  const other = await open();
  const key = await limited(one);
  const [low, high] = [await begin(one.world, key), await begin(one.world, key)];
  await other.world.admit(key, { hold: 3, lower: [{ id: low, to: 0.2 }] });
  const settling = [low, high].map((id) => one.world.settle(key, id, { dollars: 0.5 }));
  const [refused, done] = await Promise.allSettled(settling);
  expect(refused).toMatchObject({ status: "rejected" });
  expect(String(refused?.status === "rejected" && refused.reason)).toContain("of a hold of 200000000");
  expect(done).toMatchObject({ status: "fulfilled", value: { kind: "done" } });
  expect(await standing(one.world, key)).toEqual({ held: 3_200_000_000n, spent: 600_000_000n });
  expect(await one.world.settle(key, low, { dollars: 0.1 })).toMatchObject({ kind: "done" });
  expect(await standing(one.world, key)).toEqual({ held: 3_000_000_000n, spent: 700_000_000n });
}, 120_000);

test("one that a person ended at another gateway is lost, without affecting settlements beside it", async () => {
  const one = await open();
  const other = await open();
  const key = await limited(one);
  const ids = await Promise.all(Array.from({ length: 3 }, () => begin(one.world, key)));
  const ended = { organizationId: key.organizationId, requestId: ids[0] ?? "" };
  await putInQuarantine(other.world.ledger, ended, "a test");
  const ending = { ...ended, charge: null, reason: "a test" };
  expect(await other.world.ledger.endByHand(ending, byItself("test"))).toMatchObject({ kind: "ended" });
  const settled = await Promise.all(ids.map((id) => one.world.settle(key, id, { dollars: 0.5 })));
  expect(settled.map(({ kind }) => kind)).toEqual(["lost", "done", "done"]);
  expect(await standing(one.world, key)).toEqual({ held: 0n, spent: 1_100_000_000n });
  expect([one.own.size, await runningOf(key)]).toEqual([0, 0]);
});

test("a stream's parts are deleted at its end, though nobody read that it had any", async () => {
  const one = await open();
  const key = await limited(one);
  const { id } = await one.world.admit(key, { hold: 1, idempotencyKey: "stream-key-1" });
  await one.world.checkpoint(key, id, { tokens: 3, sent: { seq: 0, text: "part" } });
  expect((await admin.query("SELECT 1 FROM stream_chunk")).rows).toHaveLength(1);
  await one.world.settle(key, id, { dollars: 0.1, answer: "whole" });
  expect((await admin.query("SELECT 1 FROM stream_chunk")).rows).toHaveLength(0);
});
