// One organization's changes queue in the gateway, not at its lock in the database: there they would take all of the
// pool's connections, which others' changes and pages need (money.md §10).
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { waitFor } from "../support/wait.ts";

let replicas: Replicas;
let admin: pg.Client;
/** Not the session that holds the lock: a transaction sees pg_stat_activity as of its first read. */
let watcher: pg.Client;
beforeAll(async () => {
  replicas = await Replicas.start(1, await testPostgres());
  [admin, watcher] = [replicas.database.url, replicas.database.url].map(
    (connectionString) => new pg.Client({ connectionString }),
  ) as [pg.Client, pg.Client];
  await Promise.all([admin.connect(), watcher.connect()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([admin.end(), watcher.end()]);
  await replicas.stop();
});

async function atLocks(): Promise<number> {
  const { rows } = await watcher.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'tollgate pool' AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.n ?? 0;
}

interface KeyJson {
  id: string;
  limit_usd: string | null;
}

async function newKey(): Promise<{ organizationId: string; id: string }> {
  const { organizationId } = await replicas.first.customer();
  const { id } = await replicas.first.admin<KeyJson>("POST", "/keys", {
    org: organizationId,
    name: "edited",
  });
  return { organizationId, id };
}

test("twelve edits of a locked organization wait on one connection; another one's edit and pages wait for none of them", async () => {
  const [busy, other] = [await newKey(), await newKey()];
  const edit = ({ id }: { id: string }, usd: number): Promise<KeyJson> =>
    replicas.first.admin("POST", `/keys/${id}/update`, { limit_usd: `${usd}` });
  await admin.query("BEGIN");
  await admin.query("SELECT 1 FROM org_balance WHERE org_id = $1 FOR UPDATE", [busy.organizationId]);
  const ended: string[] = [];
  const edits = Array.from({ length: 12 }, async (_, nth) => {
    const { limit_usd } = await edit(busy, nth + 1);
    ended.push("busy");
    return Number(limit_usd);
  });
  try {
    await waitFor(async () => (await atLocks()) > 0, "an edit at the lock");
    expect(Number((await edit(other, 7)).limit_usd)).toBe(7);
    expect(await replicas.balance(other.organizationId)).toMatchObject({ held_usd: "0.000000000" });
    expect(await atLocks()).toBe(1);
    expect(ended).toEqual([]);
  } finally {
    await admin.query("COMMIT");
  }
  expect((await Promise.all(edits)).toSorted((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ]);
});
