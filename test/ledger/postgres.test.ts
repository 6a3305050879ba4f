// The PostgreSQL store against the conformance suite, on a real server.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { NO_RATE_DEFAULTS } from "../../src/domain/rate-limits.ts";
import { interruptedStreams } from "../../src/gateway/interrupted-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { testClock } from "../support/clock.ts";
import { testPostgres } from "../support/postgres.ts";
import { ledgerConformance } from "./conformance.ts";
import { keySettingsConformance } from "./key-settings.ts";
import { rateConformance } from "./rate-limits.ts";
import { type OpenLedger, World } from "./world.ts";
import { readUsageRows } from "../../src/registry/requests.ts";

const DAY_MS = 86_400_000;
const idempotency = { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS };
const folders: string[] = [];
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
  folders.push(made);
  return made;
}

/** The sweeper is off: clocks jump by years here. */
async function open(
  url: string,
  directory: string,
  clock?: Clock,
  rateDefaults = NO_RATE_DEFAULTS,
): Promise<{
  ledger: Ledger;
  close(): Promise<void>;
  /** Its process is gone, and the others know. */
  evict(): Promise<void>;
  run(sql: string): Promise<unknown[]>;
}> {
  const store = await openPostgresStore(url, directory);
  const ledger = await openPostgresLedger({
    store,
    idempotency,
    printInterrupted: interruptedStreams(FORMATS),
    sweepEveryMs: DAY_MS,
    rateDefaults,
    ...(clock !== undefined && { clock }),
  });
  return {
    ledger,
    close: async () => {
      await ledger.close();
      await store.close();
    },
    run: async (sql) => (await store.pool.query<unknown[]>({ text: sql, rowMode: "array" })).rows.flat(),
    evict: async () => void (await store.pool.query("UPDATE instance SET lease_until = 0, condemned = true")),
  };
}

const openAny: OpenLedger = async (clock) => {
  const database = await (await testPostgres()).migrated();
  const directory = folder();
  const opened = [await open(database.url, directory, clock)];
  const [first] = opened;
  if (first === undefined) throw new Error("nothing was opened");
  return {
    ledger: first.ledger,
    crash: async () => {
      await opened.at(-1)?.evict(); // expiring its lease alone is not enough: it might renew it before the next one checks
      const next = await open(database.url, directory, clock);
      opened.push(next);
      return next.ledger;
    },
    close: async () => {
      for (const one of opened) await one.close();
      await database.drop();
    },
  };
};
ledgerConformance("PostgreSQL", openAny);
keySettingsConformance("PostgreSQL", openAny);

rateConformance("PostgreSQL", async (clock, rateDefaults) => {
  const database = await (await testPostgres()).migrated();
  const one = await open(database.url, folder(), clock, rateDefaults);
  return {
    ledger: one.ledger,
    crash: () => Promise.reject(new Error("not here")),
    close: async () => {
      await one.close();
      await database.drop();
    },
  };
});

test("PostgreSQL: a month of usage is a partition; dropping it deletes the month, and the audit does not miss it", async () => {
  const database = await (await testPostgres()).database();
  const directory = folder();
  const clock = testClock();
  const used: string[] = [];
  for (const day of ["2030-01-31T23:59:00Z", "2030-02-01T00:00:00Z", "2030-04-10T00:00:00Z"]) {
    clock.set(day);
    const opened = await open(database.url, directory, clock);
    const world = new World(opened.ledger);
    await world.publish();
    const key = await world.key(await world.organization(5));
    const { id } = await world.admit(key, { hold: 1 });
    await world.settle(key, id, { dollars: 0.5 });
    used.push(key.organizationId);
    await opened.close();
  }
  const opened = await open(database.url, directory, clock);
  const { ledger } = opened;
  const partitions = await opened.run("SELECT tableoid::regclass::text FROM usage_hour ORDER BY hour");
  expect(partitions).toEqual(["usage_hour_2030_01", "usage_hour_2030_02", "usage_hour_2030_04"]);
  await opened.run("DROP TABLE usage_hour_2030_01");
  const requests = async (organizationId = ""): Promise<number | undefined> =>
    (await readUsageRows(ledger, { organizationId }))[0]?.requests;
  expect([await requests(used[0]), await requests(used[1])]).toEqual([0, 1]);
  expect((await ledger.verify()).violations).toEqual([]);
  await opened.run(
    "DELETE FROM usage_hour WHERE org_id = (SELECT org_id FROM usage_hour ORDER BY hour LIMIT 1)",
  );
  expect((await ledger.verify()).violations.map(({ invariant }) => invariant)).toEqual([
    "I14 usage = settled requests",
  ]);
  await opened.close();
  await database.drop();
});
