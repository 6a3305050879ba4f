// Debian's PgBouncer between two gateways and their database, if it is installed. In session mode everything works,
// even if it dies under traffic; in transaction mode no gateway starts (docs/decisions/0055-a-session-of-its-own.md).
// test/store/postgres.test.ts tests the refusal of transaction mode without one.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { PGBOUNCER, PgBouncer } from "../support/pgbouncer.ts";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { waitFor } from "../support/wait.ts";

if (PGBOUNCER === null)
  console.warn(
    "pgbouncer.test.ts: nothing is pooled here: there is no pgbouncer; PGBOUNCER=/path/to/pgbouncer names one",
  );

const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 50 };

test.skipIf(PGBOUNCER === null)(
  "in session mode two gateways serve through it, and continue when it dies under traffic: every charge once",
  async () => {
    const database = await (await testPostgres()).database();
    const pooler = await PgBouncer.start(database.url, "session");
    const url = pooler.through(database.url);
    const replicas = await Replicas.start(2, {
      migrated: async () => ({ url, drop: () => database.drop() }),
    });
    try {
      const { organizationId, secret } = await replicas.first.customer();
      const statuses: (number | null)[] = [];
      let stop = false;
      const traffic = [0, 1, 2, 3].map(async (n) => {
        for (; !stop; await Bun.sleep(10)) statuses.push((await replicas.at(n).chat(secret, ask)).status);
      });
      const served = (): number => statuses.filter((status) => status === 200).length;
      await waitFor(async () => served() >= 20, "answers");
      await pooler.kill();
      await waitFor(async () => statuses.includes(503), "a refusal without a database");
      await pooler.begin(url);
      const before = served();
      await waitFor(async () => served() >= before + 20, "answers after it");
      stop = true;
      await Promise.all(traffic);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      await waitFor(async () => {
        const { held_usd } = await replicas.balance(organizationId);
        return held_usd === "0.000000000";
      }, "the end of every hold");
      expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
      const { spent_usd } = await replicas.balance(organizationId);
      expect(Number(spent_usd)).toBeGreaterThan(0);
    } finally {
      await replicas.stop();
      await pooler.stop();
    }
  },
  120_000,
);

test.skipIf(PGBOUNCER === null)("in transaction mode no gateway starts", async () => {
  const database = await (await testPostgres()).database();
  const pooler = await PgBouncer.start(database.url, "transaction");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-store-"));
  try {
    const opened = openPostgresStore(pooler.through(database.url), folder);
    expect(opened).rejects.toThrow("is behind a pooler in transaction mode");
    await opened.catch(() => {}); // as expected
  } finally {
    await pooler.stop();
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  }
});
