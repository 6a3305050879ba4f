// `db rotate-key` with more than one place: several gateways on one database, one that was paused, an older backup, a
// disk that fills up in the middle.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { sealAnswer } from "../../src/ledger/answer-vault.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway, type Received } from "../support/process-gateway.ts";
import { SmallDisk } from "../support/small-disk.ts";

const PATIENCE_MS = 120_000;
const ASK = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 60 };
const LOUD = { TOLLGATE_LOG_LEVEL: "warn" };

const dataOf = (gateway: ProcessGateway): string => join(gateway.folder, "data");
const keyOf = (gateway: ProcessGateway): string =>
  readFileSync(join(dataOf(gateway), "data.key")).toString("hex");
const keyed = (
  gateway: ProcessGateway,
  secret: string,
  idempotencyKey = "one-of-before",
): Promise<Received> => gateway.chat(secret, ASK, { "idempotency-key": idempotencyKey });

describe("several gateways on one database", () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let slept: ProcessGateway;
  let other: ProcessGateway;
  let secret: string;
  let answer: Received;
  let bill: number;

  beforeAll(async () => {
    database = await (await testPostgres()).migrated();
    env = { DATABASE_URL: database.url, ...LOUD };
    slept = await ProcessGateway.start(env);
    other = await slept.beside(env);
    ({ secret } = await slept.customer());
    answer = await keyed(slept, secret);
    bill = slept.simulator.bill().length;
  }, PATIENCE_MS);
  afterAll(async () => {
    await other.stop();
    await slept.stop();
    await database.drop();
  }, PATIENCE_MS);

  test(
    "one that was paused while the key changed serves nothing when it wakes, and ends with the reason",
    async () => {
      await slept.kill("SIGSTOP");
      await other.kill("SIGTERM");
      const rotate = () => other.cli(env, "db", "rotate-key");
      const early = await rotate();
      expect(early.code).toBe(1);
      expect(early.stderr).toContain("one that was killed counts for ten more seconds");
      await Bun.sleep(11_000);
      const done = await rotate();
      expect({ ...done, code: 0 }).toEqual(done);
      expect(done.stdout).toContain("--data-dir OTHER db key FILE --replace");
      await slept.kill("SIGCONT");
      const late = await keyed(slept, secret, "while-it-wakes");
      expect([503, null]).toContain(late.status);
      await slept.ended();
      expect(slept.exitCode).toBe(1);
      expect(slept.log).toContain("is not the data key of this database");
      expect(slept.simulator.bill().length).toBe(bill);
    },
    PATIENCE_MS,
  );

  test(
    "one with the old key is refused at its start until it is given the new one, with which it answers as before",
    async () => {
      await other.run(env);
      expect(await slept.run(env).then(() => "started", String)).toContain("ended at its start: 1");
      expect(slept.log).toContain("is not the data key of this database");
      const file = join(dataOf(other), "data.key");
      const old = keyOf(slept);
      const refused = await slept.cli(env, "db", "key", file);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("--replace");
      expect(keyOf(slept)).toBe(old);
      expect((await slept.cli(env, "db", "key", file, "--replace")).code).toBe(0);
      expect(keyOf(slept)).toBe(keyOf(other));
      const kept = readdirSync(dataOf(slept)).filter((name) => name.startsWith("data.key.before-"));
      expect(kept.map((name) => readFileSync(join(dataOf(slept), name)).toString("hex"))).toEqual([old]);
      expect(statSync(join(dataOf(slept), "data.key")).mode & 0o777).toBe(0o600);
      await slept.run(env);
      for (const gateway of [slept, other]) expect((await keyed(gateway, secret)).text).toBe(answer.text);
      expect(slept.simulator.bill().length).toBe(bill);
    },
    PATIENCE_MS,
  );
});

describe("an older backup", () => {
  let gateway: ProcessGateway;
  beforeAll(async () => {
    gateway = await ProcessGateway.start();
  }, PATIENCE_MS);
  afterAll(() => gateway.stop(), PATIENCE_MS);

  test(
    "is restored with the key that it was made with, which is then changed again",
    async () => {
      const { secret } = await gateway.customer();
      const answer = await keyed(gateway, secret);
      const old = keyOf(gateway);
      const backup = join(gateway.folder, "backup");
      expect((await gateway.cli({}, "db", "backup", backup)).code).toBe(0);
      await gateway.kill("SIGTERM");
      expect((await gateway.cli({}, "db", "rotate-key")).code).toBe(0);
      await gateway.run();
      const later = await keyed(gateway, secret, "one-of-after");
      const id = later.headers.get("x-request-id") ?? "";
      const asking = { authorization: `Bearer ${secret}` };
      const { text: receipt } = await gateway.get(`/v1/receipts/${id}`, asking);
      await gateway.kill("SIGTERM");
      const between = keyOf(gateway);
      const killed = await gateway.cli({ TOLLGATE_CRASH_AT: "restore_reported" }, "db", "restore", backup);
      expect([killed.code === 0, keyOf(gateway)]).toEqual([false, old]);
      const restored = await gateway.cli({}, "db", "restore", backup);
      expect({ ...restored, code: 0 }).toEqual(restored);
      expect(restored.stdout).toContain("db rotate-key, with --leaked");
      expect(keyOf(gateway)).toBe(old);
      expect((await gateway.cli({}, "db", "rotate-key")).code).toBe(0);
      expect([old, between]).not.toContain(keyOf(gateway));
      await gateway.run();
      expect((await keyed(gateway, secret)).text).toBe(answer.text);
      const file = join(gateway.folder, "receipt.json");
      await Bun.write(file, receipt);
      expect((await gateway.cli({}, "receipt", "verify", file)).code).toBe(0);
      expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true });
    },
    PATIENCE_MS,
  );
});

const disk = SmallDisk.mount(60);
afterAll(() => disk.release());

// Needs the right to mount a small disk.
test.skipIf(!disk.isMounted)(
  "a disk that fills up in the middle: nothing was changed, and with room the same command succeeds",
  async () => {
    const gateway = await ProcessGateway.start();
    try {
      const { secret } = await gateway.customer();
      const answer = await keyed(gateway, secret);
      await gateway.kill("SIGTERM");
      const dataDir = join(disk.path, "data");
      cpSync(dataOf(gateway), dataDir, { recursive: true });
      manyAnswers(dataDir);
      const rotate = () => gateway.cli({}, "--data-dir", dataDir, "db", "rotate-key");
      // Less than its journal takes.
      const hog = join(disk.path, "hog");
      fillDisk(hog);
      truncateSync(hog, statSync(hog).size - 3 * 1024 * 1024);
      const was = readFileSync(join(dataDir, "data.key"));
      const full = await rotate();
      expect(full.code).toBe(1);
      expect(full.stderr).toContain("free some space, then run this again: nothing was changed");
      expect(readFileSync(join(dataDir, "data.key")).equals(was)).toBe(true);
      rmSync(hog);
      const done = await rotate();
      expect({ ...done, code: 0 }).toEqual(done);
      rmSync(dataOf(gateway), { recursive: true });
      cpSync(dataDir, dataOf(gateway), { recursive: true });
      await gateway.run();
      expect((await keyed(gateway, secret)).text).toBe(answer.text);
    } finally {
      await gateway.stop();
    }
  },
  PATIENCE_MS,
);

/** 10 MB of them. */
function manyAnswers(dataDir: string): void {
  const store = new Database(join(dataDir, "tollgate.sqlite"));
  const dataKey = readFileSync(join(dataDir, "data.key"));
  const [organizationId] = store.query("SELECT org_id FROM organization").values()[0] as [string];
  const add = store.query(
    "INSERT INTO result (org_id, request_id, sealed, expires_at) VALUES (?1, ?2, ?3, ?4)",
  );
  store.transaction(() => {
    for (let n = 0; n < 1000; n += 1) {
      const answer = { requestId: `req_${n}`, status: 200, headers: {}, body: new Uint8Array(10_000) };
      add.run(
        organizationId,
        answer.requestId,
        sealAnswer(dataKey, organizationId, answer),
        Number.MAX_SAFE_INTEGER,
      );
    }
  })();
  store.run("PRAGMA wal_checkpoint(TRUNCATE)");
  store.close();
}
