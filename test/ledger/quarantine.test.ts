// One damaged record of each kind, in each store: its request is held and named, an operator decides about it, every
// other request is ended and served, and the money is conserved throughout (docs/decisions/0020-one-bad-record.md).
import { afterEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { byItself } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { interruptedStreams } from "../../src/gateway/interrupted-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { openSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { Spool } from "../../src/ledger/commit/spool.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Jobs } from "../../src/lib/jobs.ts";
import { quarantine } from "../../src/operator/quarantine.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { placeMigratedStore } from "../support/migrated-store.ts";
import { testPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";
import { BEGUN, type KeyInHand, releaseOf, World } from "./world.ts";
import { quarantined } from "../../src/ledger/quarantine.ts";
import { newestReleases, readRelease } from "../../src/registry/releases.ts";
import { readRequest } from "../../src/registry/requests.ts";
import { auditLog } from "../support/audit-log.ts";

const DAY_MS = 86_400_000;
const ADA = byItself("ada");
const ended: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

interface Place {
  directory: string;
  /** The ledger of a process that starts there now, after the previous one died. */
  start(sweepEveryMs?: number): Promise<Ledger>;
  /** Bypasses every rule of the store. */
  damage(sql: string): Promise<void>;
  /** The errors that background work reported. */
  told: { job: string; message: string }[];
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tollgate-quarantine-"));
  ended.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function common(told: Place["told"]) {
  const tell = (job: string, error: unknown): void => void told.push({ job, message: String(error) });
  return {
    idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS },
    printInterrupted: interruptedStreams(FORMATS),
    jobs: new Jobs({ tell }),
  };
}

async function sqlite(): Promise<Place> {
  const directory = folder();
  placeMigratedStore(directory);
  const told: Place["told"] = [];
  let store: ReturnType<typeof openSqliteStore> | null = null;
  ended.push(() => store?.close());
  return {
    directory,
    told,
    start: (sweepEveryMs = DAY_MS) => {
      store?.close();
      store = openSqliteStore(directory);
      return openSqliteLedger({
        store,
        clock: systemClock,
        sweepEveryMs,
        booksEveryMs: DAY_MS,
        ...common(told),
      });
    },
    damage: async (sql) => {
      const database = new Database(join(directory, "tollgate.sqlite"));
      const triggers = database.query("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all() as {
        name: string;
        sql: string;
      }[];
      for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
      database.run(sql.replaceAll("$BIT", "X'00'"));
      for (const trigger of triggers) database.run(trigger.sql);
      database.close();
    },
  };
}

async function postgres(): Promise<Place> {
  const database = await (await testPostgres()).migrated();
  ended.push(() => database.drop());
  const directory = folder();
  const told: Place["told"] = [];
  const damage = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("SET session_replication_role = replica");
    await client.query(sql.replaceAll("$BIT", "'\\x00'"));
    await client.end();
  };
  return {
    directory,
    told,
    start: async (sweepEveryMs = DAY_MS) => {
      await damage(
        "DO $$ BEGIN IF to_regclass('instance') IS NOT NULL THEN UPDATE instance SET lease_until = 0, condemned = true; END IF; END $$",
      );
      const store = await openPostgresStore(database.url, directory);
      const ledger = await openPostgresLedger({ store, sweepEveryMs, booksEveryMs: DAY_MS, ...common(told) });
      ended.push(async () => {
        await ledger.close();
        await store.close();
      });
      return ledger;
    },
    damage,
  };
}

const cents = (amount: number) => nanoUsd(BigInt(amount) * 10_000_000n);

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
] as const)("%s", (_, open) => {
  /** A stream that had delivered nine tokens, and another one, when their process died. */
  async function twoCutStreams(
    sweepEveryMs?: number,
  ): Promise<{ place: Place; ledger: Ledger; key: KeyInHand; bad: string; good: string }> {
    const place = await open();
    const ledger = await place.start(sweepEveryMs);
    const world = new World(ledger);
    await world.publish();
    const key = await world.key(await world.organization(5), { limit: 100 });
    const stream = async (idempotencyKey: string): Promise<string> => {
      const { id } = await world.admit(key, { hold: 1, idempotencyKey });
      await world.checkpoint(key, id, { tokens: 9, sent: { seq: 0, text: BEGUN } });
      return id;
    };
    const [bad, good] = [await stream("of the bad one"), await stream("of the good one")];
    return { place, ledger, key, bad, good };
  }

  const DAMAGES: [what: string, sql: (id: string) => string, reason: string][] = [
    [
      "a bit of a sealed part",
      (id) => `UPDATE stream_chunk SET sealed = $BIT WHERE request_id = '${id}'`,
      "part 0 of the stream",
    ],
    [
      "the attempts",
      (id) => `UPDATE request SET attempts = '[{"n":1,' WHERE request_id = '${id}'`,
      "the record of request",
    ],
    [
      "the name of its release",
      (id) => `UPDATE request SET release_digest = 'gone' WHERE request_id = '${id}'`,
      "release gone is missing",
    ],
    [
      "the count of what was delivered",
      (id) => `UPDATE request SET delivered_tokens = 9007199254740993 WHERE request_id = '${id}'`,
      "9007199254740992",
    ],
  ];

  test.each(DAMAGES)(
    "damaged: %s; the store starts, the rest goes on, an operator charges it",
    async (_what, sql, reason) => {
      const { place, key, bad, good } = await twoCutStreams();
      await place.damage(sql(bad));
      const ledger = await place.start();
      const world = new World(ledger);
      expect((await readRequest(ledger, good))?.state).toBe("settled"); // one token of prompt and nine delivered: ten cents
      expect(await world.balance(key.organizationId)).toBe("3.90 1.00");
      const [held, ...more] = await quarantined(ledger);
      expect(more).toEqual([]);
      expect(held).toMatchObject({ requestId: bad, organizationId: key.organizationId, hold: cents(100) });
      expect(held?.reason).toContain(reason);
      expect(ledger.pulse().quarantined).toBe(1);
      expect(place.told).toContainEqual(
        expect.objectContaining({ job: "ledger_recovery", message: expect.stringContaining(bad) }),
      );
      expect((await ledger.verify()).violations).toEqual([]);
      expect((await world.admit(key, { hold: 1, idempotencyKey: "of the good one" })).says).toBe("replay");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "of the bad one" })).says).toBe(
        "idempotency_outcome_unknown",
      );
      // The next start finds it held, and does not report it again.
      const again = await place.start();
      expect(place.told.filter(({ job }) => job === "ledger_recovery")).toHaveLength(1);
      const ending = {
        organizationId: key.organizationId,
        requestId: bad,
        reason: "its client had the first part",
      };
      expect(await again.endByHand({ ...ending, charge: cents(101) }, ADA)).toEqual({
        kind: "exceeds",
        atMost: cents(100),
      });
      expect(await again.endByHand({ ...ending, requestId: good, charge: null }, ADA)).toEqual({
        kind: "unknown_request",
      });
      expect(await again.endByHand({ ...ending, charge: cents(4) }, ADA)).toMatchObject({
        kind: "ended",
        charge: cents(4),
      });
      expect(await again.endByHand({ ...ending, charge: cents(4) }, ADA)).toEqual({
        kind: "unknown_request",
      });
      expect(await quarantined(again)).toEqual([]);
      expect(await new World(again).balance(key.organizationId)).toBe("4.86 0.00");
      const [line, before] = await auditLog(again, { limit: 2 });
      expect(line).toMatchObject({
        actor: "ada",
        action: "request.resolve",
        target: bad,
        after: JSON.stringify({ charge_usd: "0.040000000", reason: ending.reason }),
      });
      expect(before).toMatchObject({ actor: "recovery", action: "request.quarantine", target: bad });
      expect((await new World(again).admit(key, { hold: 1, idempotencyKey: "of the bad one" })).says).toBe(
        "idempotency_result_not_retained",
      );
      expect((await again.verify()).violations).toEqual([]);
    },
  );

  test("an operator releases it: the whole hold is released, its key keeps refusing", async () => {
    const { place, key, bad } = await twoCutStreams();
    await place.damage(`UPDATE stream_chunk SET sealed = $BIT WHERE request_id = '${bad}'`);
    const ledger = await place.start();
    const ending = {
      organizationId: key.organizationId,
      requestId: bad,
      charge: null,
      reason: "nothing was delivered",
    };
    expect(await ledger.endByHand(ending, ADA)).toMatchObject({ kind: "ended", charge: 0n });
    const world = new World(ledger);
    expect(await world.balance(key.organizationId)).toBe("4.90 0.00");
    expect((await readRequest(ledger, bad))?.state).toBe("outcome_unknown");
    expect((await world.admit(key, { hold: 1, idempotencyKey: "of the bad one" })).says).toBe(
      "idempotency_outcome_unknown",
    );
    expect((await ledger.verify()).violations).toEqual([]);
  });

  test("two operators decide concurrently: one of them succeeds", async () => {
    const { place, key, bad } = await twoCutStreams();
    await place.damage(`UPDATE stream_chunk SET sealed = $BIT WHERE request_id = '${bad}'`);
    const ledger = await place.start();
    const ending = { organizationId: key.organizationId, requestId: bad, reason: "both" };
    const both = await Promise.all([
      ledger.endByHand({ ...ending, charge: cents(50) }, ADA),
      ledger.endByHand({ ...ending, charge: null }, byItself("bob")),
    ]);
    expect(both.map(({ kind }) => kind)).toEqual(["ended", "unknown_request"]);
    expect((await ledger.verify()).violations).toEqual([]);
  });

  test("1,100 rotten requests do not keep a good one from its end; each is counted, listed once and found", async () => {
    const place = await open();
    const world = new World(await place.start());
    await world.publish();
    const key = await world.key(await world.organization(1200));
    const admitted = await Promise.all(Array.from({ length: 1101 }, () => world.admit(key, { hold: 1 })));
    const ids = admitted.map(({ id }) => id);
    const good = ids.pop() ?? "";
    await place.damage(`UPDATE request SET attempts = '{' WHERE request_id <> '${good}'`);
    const ledger = await place.start();
    expect((await readRequest(ledger, good))?.state).toBe("outcome_unknown");
    expect(await new World(ledger).balance(key.organizationId)).toBe("100.00 1100.00");
    expect((await ledger.verify()).violations).toEqual([]);
    expect(ledger.pulse().quarantined).toBe(1100);
    const decisions = quarantine(ledger);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await decisions.quarantine({ cursor, limit: 200 });
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    const last = seen.at(-1) ?? "";
    const one = { requestId: last, field: "id" } as const;
    expect(await decisions.resolve(one, { charge_usd: null, reason: "broken" }, ADA)).toMatchObject({
      id: last,
    });
    expect(await quarantined(ledger)).toHaveLength(1099);
    const gone = await decisions.resolve(one, { charge_usd: null, reason: "again" }, ADA).catch(String);
    expect(gone).toContain("no request");
  });

  test("300 requests of an organization whose balance is gone are named and told, and somebody else's ends", async () => {
    const place = await open();
    const world = new World(await place.start());
    await world.publish();
    const gone = await world.key(await world.organization(1000));
    const other = await world.key(await world.organization(10));
    const lost = await Promise.all(Array.from({ length: 300 }, () => world.admit(gone, { hold: 1 })));
    const { id } = await world.admit(other, { hold: 2 });
    await place.damage(`DELETE FROM org_balance WHERE org_id = '${gone.organizationId}'`);
    const ledger = await place.start();
    expect((await readRequest(ledger, id))?.state).toBe("outcome_unknown");
    expect(await new World(ledger).balance(other.organizationId)).toBe("10.00 0.00");
    const waiting = await quarantined(ledger);
    expect(new Set(waiting.map(({ requestId }) => requestId))).toEqual(new Set(lost.map((one) => one.id)));
    const named = `the balance of organization ${gone.organizationId} cannot be read`;
    expect(waiting[0]?.reason).toContain(named);
    expect(place.told).toHaveLength(300);
    const ending = { organizationId: gone.organizationId, requestId: lost[0]?.id ?? "", charge: null };
    expect(await ledger.endByHand({ ...ending, reason: "a disk" }, ADA).catch(String)).toContain(named);
  });

  test("the sweeper of a running gateway quarantines what it meets, and continues", async () => {
    const { place, ledger, key, bad, good } = await twoCutStreams(20);
    await place.damage(`UPDATE stream_chunk SET sealed = $BIT WHERE request_id = '${bad}'`);
    await place.damage("UPDATE request SET deadline_at = 1"); // their owner has given them up
    await waitFor(async () => (await quarantined(ledger)).length === 1, "the quarantine");
    const sweptAtMs = ledger.pulse().sweptAtMs ?? 0;
    await waitFor(async () => (ledger.pulse().sweptAtMs ?? 0) > sweptAtMs + 50, "later sweeps");
    expect((await readRequest(ledger, good))?.state).toBe("settled");
    expect(await new World(ledger).balance(key.organizationId)).toBe("3.90 1.00");
    expect(place.told.map(({ job }) => job)).toEqual(["ledger_recovery"]);
    await ledger.close();
  });

  test("a damaged stored answer: its key is told, every other replays", async () => {
    const place = await open();
    const ledger = await place.start();
    const world = new World(ledger);
    await world.publish();
    const key = await world.key(await world.organization(5));
    const ids: string[] = [];
    for (const idempotencyKey of ["of the bad one", "of the good one"]) {
      const { id } = await world.admit(key, { hold: 1, idempotencyKey });
      await world.settle(key, id, { dollars: 0.5, answer: "kept" });
      ids.push(id);
    }
    await place.damage(`UPDATE result SET sealed = $BIT WHERE request_id = '${ids[0]}'`);
    const bad = await world.admit(key, { hold: 1, idempotencyKey: "of the bad one" });
    expect(bad.says).toBe("idempotency_result_not_retained");
    expect(bad.outcome.kind === "refused" && bad.outcome.refusal.message).toContain("damaged");
    expect((await world.admit(key, { hold: 1, idempotencyKey: "of the good one" })).says).toBe("replay");
    expect(place.told).toEqual([expect.objectContaining({ job: "replay" })]);
    expect((await ledger.verify()).violations).toEqual([
      expect.objectContaining({ invariant: "I9 cost in the stored answer", requestId: ids[0] }),
    ]);
  });

  test("a settled request's damaged row or release is one finding of the audit each, and named to its readers", async () => {
    const place = await open();
    const ledger = await place.start();
    const world = new World(ledger);
    const other = releaseOf({ model: "n", route: "n@p/r" });
    await world.publish();
    await world.publish(other);
    const key = await world.key(await world.organization(5));
    const settle = async (release = releaseOf()): Promise<string> => {
      const { id } = await world.admit(key, { hold: 1, release });
      await world.settle(key, id, { dollars: 0.1, release });
      return id;
    };
    const [attempts, release, whole] = [await settle(), await settle(other), await settle()];
    await place.damage(`UPDATE request SET attempts = 'x' WHERE request_id = '${attempts}'`);
    await place.damage(`UPDATE route_release SET manifest = '{"route":' WHERE digest = '${other.digest}'`);
    const { violations } = await ledger.verify();
    expect(violations.map(({ invariant, requestId }) => [invariant, requestId])).toEqual([
      ["I11 attempts are readable", attempts],
      ["I8 charge recomputed", release],
      ["I20 a release is what was signed", other.digest],
    ]);
    expect(await readRequest(ledger, attempts).catch(String)).toContain(
      `the record of request ${attempts} cannot be read`,
    );
    expect(await readRelease(ledger, other.digest).catch(String)).toContain(
      `release ${other.digest} cannot be read`,
    );
    expect((await readRequest(ledger, whole))?.state).toBe("settled");
    const newest = await newestReleases(ledger, () => {});
    expect(newest.releases.map(({ release: { route } }) => route)).toEqual(["m@p/r"]);
    expect(newest.damaged.map(({ route }) => route)).toEqual(["n@p/r"]);
  });

  /** Damage to a release's row: a digit of its rate, another one of its window, a letter of what was signed. */
  const RELEASE_DAMAGES: [what: string, set: string][] = [
    ["a digit of the rate", `manifest = replace(manifest, '"input":"10', '"input":"30')`],
    ["a digit of the window", `manifest = replace(manifest, '"contextWindow":1', '"contextWindow":3')`],
    ["a letter of a name", `manifest = replace(manifest, '"tokenizer"', '"tokenizes"')`],
    ["what was signed", "jws = replace(jws, '.', '.e')"],
  ];

  test.each(RELEASE_DAMAGES)(
    "a release that is not what was signed (%s) prices nothing: its orphan is held, its readers are told",
    async (_what, set) => {
      const place = await open();
      const before = await place.start();
      const world = new World(before);
      const other = releaseOf({ model: "n", route: "n@p/r" });
      await world.publish();
      await world.publish(other);
      const key = await world.key(await world.organization(5));
      const stream = async (release = releaseOf()): Promise<string> => {
        const { id } = await world.admit(key, { hold: 1, release });
        await world.checkpoint(key, id, { tokens: 9, release });
        return id;
      };
      const { id: settled } = await world.admit(key, { hold: 1, release: other });
      await world.settle(key, settled, { dollars: 0.1, release: other });
      const [bad, good] = [await stream(other), await stream()];
      await place.damage(`UPDATE route_release SET ${set} WHERE digest = '${other.digest}'`);
      const ledger = await place.start();
      expect(await new World(ledger).balance(key.organizationId)).toBe("3.80 1.00"); // ten cents each
      expect((await readRequest(ledger, good))?.state).toBe("settled");
      const named = `release ${other.digest} cannot be read`;
      expect((await quarantined(ledger)).map(({ requestId, reason }) => [requestId, reason])).toEqual([
        [bad, expect.stringContaining(named)],
      ]);
      expect(await readRelease(ledger, other.digest).catch(String)).toContain(named);
      const told: unknown[] = [];
      const newest = await newestReleases(ledger, (error) => told.push(String(error)));
      expect(newest.releases.map(({ release: { route } }) => route)).toEqual(["m@p/r"]);
      expect(told).toEqual([expect.stringContaining("the release of n@p/r cannot be read")]);
      expect((await ledger.verify()).violations).toEqual([
        expect.objectContaining({ invariant: "I8 charge recomputed", requestId: settled, found: "none" }),
        expect.objectContaining({ invariant: "I20 a release is what was signed", requestId: other.digest }),
      ]);
    },
  );

  test("usage beyond all bounds fails alone: no other settlement of its key and hour does", async () => {
    const place = await open();
    const ledger = await place.start();
    const world = new World(ledger);
    await world.publish();
    const key = await world.key(await world.organization(5));
    const [absurd, sane] = [await world.admit(key, { hold: 1 }), await world.admit(key, { hold: 1 })];
    const both = await Promise.allSettled([
      ...[Number.MAX_SAFE_INTEGER, 1e300, 0.5, Number.NaN].map((promptTokens) =>
        ledger.settle({
          organizationId: key.organizationId,
          requestId: absurd.id,
          releaseDigest: releaseOf().digest,
          evidence: "provider_usage",
          usage: { promptTokens, completionTokens: 0, cachedTokens: null, reasoningTokens: null },
          charge: cents(100),
          variance: nanoUsd(0n),
          minimumApplied: false,
          finishReason: "stop",
          status: 200,
          attempts: [],
          firstPartMs: 1,
          totalMs: 2,
          answer: null,
        }),
      ),
      world.settle(key, sane.id, { dollars: 0.5 }),
    ]);
    expect(both.map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(await world.balance(key.organizationId)).toBe("3.50 1.00");
    await world.void(key, absurd.id, true);
    expect((await ledger.verify()).violations).toEqual([]);
  });
});

/** A line of the spool: 25 cents for a request of the key. */
const spooled = (key: KeyInHand, requestId: string): string =>
  `${JSON.stringify({
    kind: "settle",
    settlement: {
      organizationId: key.organizationId,
      requestId,
      releaseDigest: releaseOf().digest,
      evidence: "provider_usage",
      usage: { promptTokens: 25, completionTokens: 0, cachedTokens: null, reasoningTokens: null },
      charge: "250000000",
      variance: "0",
      minimumApplied: false,
      finishReason: "stop",
      status: 200,
      attempts: [],
      firstPartMs: 1,
      totalMs: 2,
      answer: null,
    },
    owner: { epoch: 1 },
  })}\n`;

/** Of a process that has ended. */
const SPOOL = `spool-1-${2 ** 22 - 1}.jsonl`;

test("what a process spooled is settled though another program has its number by now", async () => {
  const place = await postgres();
  const world = new World(await place.start());
  await world.publish();
  const key = await world.key(await world.organization(5));
  const { id } = await world.admit(key, { hold: 1 });
  writeFileSync(join(place.directory, `spool-1-${process.ppid}.jsonl`), spooled(key, id));
  const ledger = await place.start();
  expect((await readRequest(ledger, id))?.charge).toBe(cents(25));
  expect(readdirSync(place.directory).filter((name) => name.endsWith(".jsonl"))).toEqual([]);
});

test("a damaged line of the spool is set aside, its request waits for an operator, the others are settled", async () => {
  const place = await postgres();
  const world = new World(await place.start());
  await world.publish();
  const key = await world.key(await world.organization(5));
  const [bad, good] = [await world.admit(key, { hold: 1 }), await world.admit(key, { hold: 1 })];
  const file = join(place.directory, SPOOL);
  writeFileSync(file, spooled(key, bad.id).replace('"250000000"', '"25000\u0000000'));
  appendFileSync(file, `%%%\n${spooled(key, good.id)}`);
  const ledger = await place.start();
  expect((await readRequest(ledger, good.id))?.charge).toBe(cents(25));
  expect(await quarantined(ledger)).toEqual([expect.objectContaining({ requestId: bad.id })]);
  expect(await new World(ledger).balance(key.organizationId)).toBe("3.75 1.00");
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(join(place.directory, "spool-set-aside.txt"), "utf8")).toContain(bad.id);
  expect(place.told.filter(({ job }) => job === "ledger_spool")).toHaveLength(2);
  const again = await place.start();
  expect(await quarantined(again)).toHaveLength(1);
  expect(readdirSync(place.directory).filter((name) => name.endsWith(".jsonl"))).toEqual([]);
});

test("a damaged line that cannot even be set aside: its request waits for an operator all the same", async () => {
  const place = await postgres();
  const world = new World(await place.start());
  await world.publish();
  const key = await world.key(await world.organization(5));
  const { id } = await world.admit(key, { hold: 1 });
  const file = join(place.directory, SPOOL);
  writeFileSync(file, spooled(key, id).replace('"250000000"', '"25000'));
  mkdirSync(join(place.directory, "spool-set-aside.txt"));
  const ledger = await place.start();
  expect(await quarantined(ledger)).toEqual([expect.objectContaining({ requestId: id })]);
  expect(existsSync(file)).toBe(true);
});

test("a spool that cannot be written throws at nobody: what waits for the database waits on", () => {
  const told: unknown[] = [];
  const spool = new Spool(
    { dataDirectory: join(folder(), "not there"), dataKey: new Uint8Array(32) },
    { epoch: 1, failed: (error) => told.push(error) },
  );
  const voiding = {
    organizationId: "org_1",
    requestId: "req_1",
    status: 500,
    errorCode: "x",
    attempts: [],
    totalMs: 1,
    freeClaim: true,
    answer: null,
  };
  const operation = { kind: "void" as const, voiding, owner: { epoch: 1 } };
  spool.keep([operation]);
  spool.taken(operation);
  expect(told).toHaveLength(1);
});
