// The variance of all organizations' requests is summed in pieces that go across organizations, on both stores.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { varianceByRelease } from "../../src/reporting/variance.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { postgresSql } from "../../src/store/postgres-sql.ts";
import type { Sql } from "../../src/store/sql.ts";
import { sqliteSql } from "../../src/store/sqlite-sql.ts";
import { testPostgres } from "../support/postgres.ts";

const PIECE = 2_500;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
/** Requests by organization within the month: a piece ends within one, and at the end of another; two have none. */
const REQUESTS = { org_a: 10, org_b: 0, org_c: PIECE - 10, org_d: 2 * PIECE + 1, org_e: 3, org_f: 0 };
/** As many as these again are older, and not counted. */
const OLDER = 3_000;

interface Opened {
  sql: Sql;
  plan(text: string): string;
  close(): Promise<void>;
}

function sqlite(): Promise<Opened> {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  return Promise.resolve({
    sql: sqliteSql({ writer }),
    plan: (text) =>
      writer
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => detail)
        .join("\n"),
    close: () => Promise.resolve(writer.close()),
  });
}

async function postgres(): Promise<Opened> {
  const database = await (await testPostgres()).migrated();
  const store = await openPostgresStore(database.url, mkdtempSync(join(tmpdir(), "variance-")));
  return {
    sql: postgresSql(store.pool),
    plan: () => "",
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
}

async function fill(sql: Sql): Promise<void> {
  const lite = sql.dialect === "sqlite";
  const hex = (n: string, digits: number): string =>
    lite ? `printf('%0${digits}x', ${n})` : `lpad(to_hex((${n})::bigint), ${digits}, '0')`;
  const put = (org: string, count: number, fromMs: number): string => {
    const many = `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    return `${lite ? "" : many} INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at,
        month, release_digest, hold, variance, prompt_bound, output_bound, opened_txn, closed_txn)
      ${lite ? many : ""} SELECT '${org}', 'req_' || ${hex(`${fromMs} + i`, 12)} || '7' || ${hex("i", 19)}, 'key_1', 'm', 'standard',
        ${lite ? "0" : "false"}, 'settled', 1, ${fromMs} + i, 0, '2026-11', CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END, 5,
        i, 1, 1, i, i FROM n`;
  };
  const counts = Object.entries(REQUESTS);
  await sql.together(
    [
      ...counts.map(
        ([org]) => `INSERT INTO organization (org_id, name, created_at) VALUES ('${org}', 'A', 0)`,
      ),
      ...counts.map(([org]) => put(org, OLDER, NOW_MS - 60 * DAY_MS)),
      ...counts.filter(([, count]) => count > 0).map(([org, count]) => put(org, count, NOW_MS - DAY_MS)),
    ].map((text) => ({ text, values: [] })),
  );
}

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
] as const)("%s", (_, open) => {
  test("each request of the span counts once, whatever its organization, and no statement reads more than a piece", async () => {
    const opened = await open();
    try {
      await fill(opened.sql);
      const asked: string[] = [];
      const sql: Sql = {
        ...opened.sql,
        rows: (text, ...of) => (asked.push(text), opened.sql.rows(text, ...of)),
      };
      const sums = await varianceByRelease(sql, NOW_MS - 30 * DAY_MS);
      const upTo = (count: number, odd: boolean): bigint =>
        Array.from({ length: count }, (_, n) => BigInt(n + 1))
          .filter((n) => (n % 2n === 1n) === odd)
          .reduce((total, n) => total + n, 0n);
      const counts = Object.values(REQUESTS);
      const total = (odd: boolean): bigint => counts.reduce((sum, count) => sum + upTo(count, odd), 0n);
      expect(sums).toEqual(
        new Map([
          ["odd", total(true)],
          ["even", total(false)],
        ]),
      );
      const requests = counts.reduce((sum, count) => sum + count, 0);
      expect(asked).toHaveLength(1 + Math.floor(requests / PIECE));
      // Nothing is sorted before the piece is cut, and no range is left.
      expect(opened.plan(asked[0] ?? "").split("GROUP BY")[0]).not.toContain("TEMP B-TREE FOR ORDER BY");
    } finally {
      await opened.close();
    }
  });
});
