// Reads on a separate thread: the event loop continues, writes are visible at once, errors are reported.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readingApart } from "./sqlite-reading.ts";
import { sqliteSql } from "./sqlite-sql.ts";
import { openSqliteStore } from "./sqlite.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tollgate-reading-"));
const store = openSqliteStore(dataDir);
const sql = readingApart(sqliteSql(store), dataDir);
afterAll(async () => {
  await sql.stop();
  store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const organizations = async (): Promise<number> =>
  (await sql.rows("SELECT org_id FROM organization WHERE org_id >= ?1", "org_")).length;

test("a read sees what was committed before it", async () => {
  expect(await organizations()).toBe(0);
  await sql.rows("INSERT INTO organization (org_id, name, created_at) VALUES (?1, 'A', 1)", "org_a");
  expect(await organizations()).toBe(1);
});

test("a long read does not block the event loop", async () => {
  const long = sql.rows(
    `SELECT count(*) AS n FROM (
       WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000000) SELECT x FROM c)`,
  );
  let turns = 0;
  let done = false;
  const finished = long.then((rows) => {
    done = true;
    return rows;
  });
  while (!done) {
    await Bun.sleep(1);
    turns++;
  }
  expect(Number((await finished)[0]?.["n"])).toBe(2_000_000);
  expect(turns).toBeGreaterThan(10);
});

test("a failing read affects that read only", async () => {
  expect(sql.rows("SELECT 1 FROM nowhere")).rejects.toThrow("nowhere");
  expect(await organizations()).toBe(1);
});
