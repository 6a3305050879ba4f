// Pages of all organizations' requests: every row once, whatever the filter, and never more rows examined
// than a page may.
import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { LabelBook } from "./labels.ts";
import { pagesOfAll, requestsOfAll } from "./operator-requests.ts";

const ROWS = 3_000;
const LOOKED_AT = 100;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const RARE = "no_healthy_route";

const writer = new Database(":memory:", { safeIntegers: true });
const sql = sqliteSql({ writer });
const labels = new LabelBook(sql, { read: () => Promise.resolve([]) } as never);
labels.releasesOf = () => Promise.resolve(new Map());
const on = {
  sql,
  labels,
  clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
  flushRequestLog: () => Promise.resolve(),
};

beforeAll(() => {
  migrate(writer);
  writer.run("INSERT INTO organization VALUES ('org_a', 'A', 0), ('org_b', 'B', 0)");
  // The first half within two days, the second within the last second.
  const at = `(CASE WHEN i <= ${ROWS / 2} THEN ${NOW_MS - 2 * 86_400_000} + i * 100000 ELSE ${NOW_MS - 1_000} + i / 5 END)`;
  const id = `'req_' || printf('%012x', ${at}) || '7' || printf('%012x', i) || '0000000'`;
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;
  const org = "CASE WHEN i % 7 = 0 THEN 'org_a' ELSE 'org_b' END";
  writer.run(`INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
      release_digest, hold, prompt_bound, output_bound, opened_txn, closed_txn, finish_reason)
    ${many} SELECT ${org}, ${id}, 'key_1', CASE WHEN i % 1000 = 3 THEN 'rare' ELSE 'm' END, 'standard', 0, 'settled', 1, ${at}, ${at},
      '2026-11', 'd', 0, 1, 1, i, i, 'stop' FROM n WHERE i % 3 <> 0`);
  writer.run(`INSERT INTO journal (request_id, org_id, key_id, kind, at, status, code, stream)
    ${many} SELECT ${id}, ${org}, 'key_1', 'refused', ${at}, 503, CASE WHEN i % 900 = 0 THEN '${RARE}' ELSE 'x' END, 0 FROM n WHERE i % 3 = 0`);
});

async function walked(query: Parameters<typeof requestsOfAll>[1]) {
  const pages = [];
  let cursor: string | undefined;
  do {
    const page = await requestsOfAll(on, { ...query, ...(cursor !== undefined && { cursor }) }, LOOKED_AT);
    if (page.searched_to !== null) expect(page.data.length).toBeLessThanOrEqual(query.limit ?? 50);
    pages.push(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return { pages, rows: pages.flatMap(({ data }) => data) };
}
const idsWhere = (where: string, table = "request"): string[] =>
  writer
    .query<{ id: string }, []>(`SELECT request_id AS id FROM ${table} WHERE ${where}`)
    .all()
    .map(({ id }) => id);

test("every request of both sources appears once, newest first, with its organization", async () => {
  const { rows } = await walked({ limit: 200 });
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual([...idsWhere("true"), ...idsWhere("true", "journal")].toSorted().toReversed());
  expect(new Set(rows.map(({ org }) => `${org.id} ${org.name}`))).toEqual(new Set(["org_a A", "org_b B"]));
});

test("rare requests are found by pages that read a few rows each and say how far they got", async () => {
  const { pages, rows } = await walked({ model: "rare", limit: 20 });
  expect(rows.map(({ id }) => id).toSorted()).toEqual(idsWhere("model = 'rare'").toSorted());
  expect(rows.length).toBeGreaterThan(0);
  expect(pages.length).toBeGreaterThan(ROWS / 3 / LOOKED_AT);
  const times = pages.flatMap(({ searched_to }) => searched_to ?? []);
  expect(times).toEqual(times.toSorted().toReversed());
  const counts = times.map((from, at) => {
    const [since, until] = [Date.parse(from), Date.parse(times[at - 1] ?? "2100-01-01T00:00:00Z")];
    return idsWhere(`admitted_at >= ${since} AND admitted_at < ${until}`).length;
  });
  expect(Math.max(...counts)).toBeLessThanOrEqual(LOOKED_AT);
});

test("an organization, a cause and a time narrow the list; an invalid cursor is refused", async () => {
  const { rows } = await walked({ code: RARE, state: "refused", range: "7d" });
  expect(rows.map(({ id }) => id).toSorted()).toEqual(idsWhere(`code = '${RARE}'`, "journal").toSorted());
  const ofOne = await walked({ org: "org_a", state: "settled", range: "24h", limit: 200 });
  const since = NOW_MS - 86_400_000;
  expect(ofOne.rows.map(({ id }) => id).toSorted()).toEqual(
    idsWhere(`org_id = 'org_a' AND admitted_at >= ${since} AND admitted_at < ${NOW_MS}`).toSorted(),
  );
  expect(requestsOfAll(on, { cursor: "req_1" })).rejects.toThrow("next_cursor");
});

test("pages in a row have every request once, and seek their span anew only where requests become denser or rarer", async () => {
  let asked = 0;
  const counting = { ...sql, rows: (...of: Parameters<typeof sql.rows>) => ((asked += 1), sql.rows(...of)) };
  const page = pagesOfAll({ ...on, sql: counting }, { limit: 20 });
  const ids: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const { data, next_cursor } = await page(cursor);
    ids.push(...data.map(({ id }) => id));
    cursor = next_cursor;
  }
  expect(ids).toEqual([...idsWhere("true"), ...idsWhere("true", "journal")].toSorted().toReversed());
  expect(asked / pages).toBeLessThan(9);
});
