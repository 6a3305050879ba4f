// `seed`: a store with a generated history and clean books, on both stores; and never beside real data.
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { byItself } from "../../src/domain/actor.ts";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { createLog } from "../../src/lib/log.ts";
import { jobsOn } from "../../src/main/jobs.ts";
import { type Seeded, seedStore } from "../../src/main/seed/seed.ts";
import { planTraffic } from "../../src/main/seed/traffic.ts";
import { type OpenedStore, openStore } from "../../src/main/store.ts";
import { createOrganization } from "../../src/registry/organizations.ts";
import { QUICK_PASSWORDS } from "../support/passwords.ts";
import { STORES, type Store } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const ASK = {
  days: 9,
  requests: 300,
  seed: 4,
  password: "a password of the tests",
  passwords: QUICK_PASSWORDS,
};
const quiet = (): void => {};
/** Then the plan's last request is twenty minutes old, and an answer's retention ends within them. */
const SEEDED_MS = Date.parse("2026-11-23T13:58:00Z");

const refusal = async (config: Config): Promise<string> =>
  await seedStore(config, ASK, quiet).then(
    () => "it was seeded",
    (error: Error) => error.message,
  );

async function opened<T>(config: Config, work: (store: OpenedStore) => Promise<T>): Promise<T> {
  const store = await openStore(config, {
    clock: { nowMs: () => SEEDED_MS, monotonicMs: () => performance.now() },
    jobs: jobsOn(createLog("silent")),
    formats: FORMATS,
  });
  try {
    return await work(store);
  } finally {
    await store.ledger.close();
    await store.close();
  }
}

describe.each([...STORES])("a seeded store on %s", (kind: Store) => {
  let folder: string;
  let database: TestDatabase | null = null;
  let config: Config;
  let seeded: Seeded;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-seed-"));
    database = kind === "postgres" ? await (await testPostgres()).database() : null;
    const env = database === null ? {} : { DATABASE_URL: database.url };
    config = loadConfig({ env, cwd: folder, flags: { dataDir: join(folder, "data") } });
    setSystemTime(SEEDED_MS);
    seeded = await seedStore(config, ASK, quiet).finally(() => setSystemTime());
  });
  afterAll(async () => {
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("has clean books, and everything that pages show", async () => {
    const [report, figures] = await opened(config, async ({ ledger, sql }) => {
      const count = async (what: string): Promise<number> => {
        const [row] = await sql.rows(`SELECT count(*) AS found FROM ${what}`);
        return Number(row?.["found"]);
      };
      const counts = {
        organizations: await count("organization"),
        keys: await count("api_key"),
        settled: await count("request WHERE state = 'settled' AND charge > 0"),
        refused: await count("journal WHERE kind = 'refused'"),
        credited: await count("payment_order WHERE state = 'credited'"),
        expired: await count(`route_release WHERE expires_at < ${SEEDED_MS}`),
        running: await count("request WHERE state NOT IN ('settled', 'released')"),
      };
      return [await ledger.verify(), counts] as const;
    });
    expect(report.violations).toEqual([]);
    expect(report.checked["I8 charge recomputed"]).toBeGreaterThan(200);
    expect(figures).toMatchObject({ organizations: 3, keys: 15, expired: 1, running: 0 });
    expect(figures.settled).toBeGreaterThan(200);
    expect(figures.refused).toBeGreaterThan(10);
    expect(figures.credited).toBeGreaterThan(4);
    expect(seeded).toMatchObject({ operator: "ada@tollgate.example", password: ASK.password });
  });

  test("is not seeded again, and the attempt changes nothing", async () => {
    expect(await refusal(config)).toContain("This store already has organizations");
  });
});

test("a store with one real organization is refused with clear words", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-seed-"));
  const config = loadConfig({ env: {}, cwd: folder, flags: { dataDir: folder } });
  await opened(config, ({ ledger }) =>
    createOrganization(ledger, { id: "org_realrealreal", name: "Real" }, byItself("test")),
  );
  expect(await refusal(config)).toContain("This store already has organizations (Real)");
  rmSync(folder, { recursive: true });
});

test.each([...STORES])(
  "a store on %s that a gateway has open is refused, even an empty one",
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-seed-"));
    const database = kind === "postgres" ? await (await testPostgres()).database() : null;
    const env = database === null ? {} : { DATABASE_URL: database.url };
    const config = loadConfig({ env, cwd: folder, flags: { dataDir: folder } });
    expect(await opened(config, () => refusal(config))).toMatch(/in use by process|a gateway has it open/);
    await database?.drop();
    rmSync(folder, { recursive: true });
  },
);

test.each([1, 16, 300])("as many requests are planned as requested: %d", (requests) => {
  const span = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 10, 9) };
  expect(planTraffic(span, requests, 1)).toHaveLength(requests);
});

test("the same seed plans the same requests; another one plans others", () => {
  const span = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 10, 9) };
  const plan = (seed: number): string => JSON.stringify(planTraffic(span, 50, seed));
  expect(plan(7)).toBe(plan(7));
  expect(plan(7)).not.toBe(plan(8));
});
