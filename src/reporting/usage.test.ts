// Usage of more groups than anybody reads: on a page the most expensive ones and the sum of the others; in a
// CSV all of them.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Reader } from "../ledger/ledger.ts";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { LabelBook } from "./labels.ts";
import { usageLines, usageOf } from "./usage.ts";

const KEYS = 250;
const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2031, 2, 10, 10);
const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
writer.run("INSERT INTO organization (org_id, name, created_at) VALUES ('org_a', 'x', 0)");
for (let key = 1; key <= KEYS; key += 1) {
  writer.run(
    `INSERT INTO api_key (key_id, org_id, name, prefix, digest, scope, created_at)
     VALUES (?1, 'org_a', ?2, 'gw_sk_', zeroblob(32), 'standard', 0)`,
    [`key_${key}`, `Key ${key}`],
  );
  for (const [model, back] of [
    ["a", 1],
    ["b", 30],
  ] as const)
    writer.run(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES ('org_a', ?1, ?2, ?3, 1, 10, 1, 2, ?4)`,
      [`key_${key}`, model, BigInt(NOW_MS / HOUR_MS - back), BigInt(key) * 1_000_000_000n],
    );
}
const sql = sqliteSql({ writer });
const on = {
  sql,
  clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
  people: { persons: async () => [] },
  labels: new LabelBook(sql, {} as Reader),
};
const query = (more: object) => ({ range: "7d" as const, ...more });
const dollars = (rows: readonly { charge_usd: string }[]): number =>
  rows.reduce((sum, { charge_usd }) => sum + Number(charge_usd), 0);

test("a hundred rows and eight series are named; the others are one sum, and nothing is lost", async () => {
  const used = await usageOf(on, "org_a", query({ group_by: "key", then_by: "model" }));
  expect(used.rows).toHaveLength(100);
  expect(used.rows[0]).toMatchObject({ group: "key_250", charge_usd: "250.000000000" });
  expect(
    used.rows
      .map(({ label }) => label)
      .slice(0, 2)
      .sort(),
  ).toEqual(["Key 250 · a", "Key 250 · b"]);
  expect(used.others?.groups).toBe(2 * KEYS - 100);
  expect(used.total.requests).toBe(2 * KEYS);
  expect(dollars([...used.rows, ...(used.others === null ? [] : [used.others])])).toBe(
    Number(used.total.charge_usd),
  );
  expect(used.series).toHaveLength(8);
  const figures = [...used.series.map((one) => one.figures), used.others_series ?? []].flat();
  expect(dollars(figures.filter((one) => one !== null))).toBe(Number(used.total.charge_usd));
  expect(JSON.stringify(used).length).toBeLessThan(100_000);
});

test.each([
  { group_by: "key" },
  { group_by: "key", then_by: "model" },
  { group_by: "model", then_by: "key" },
])("the rows read grow with what is shown: %o", async (groups) => {
  let read = 0;
  const rows: typeof sql.rows = async (text, ...values) => {
    const found = await sql.rows(text, ...values);
    read += found.length;
    return found;
  };
  const used = await usageOf({ ...on, sql: { ...sql, rows } }, "org_a", query(groups));
  expect(used.rows).toHaveLength(100);
  // The names of the most expensive groups, a cell or two of each, and those of the total.
  expect(read).toBeLessThanOrEqual(350);
  const sumOf = (of: "requests" | "input_tokens" | "charge_usd"): number =>
    [...used.rows, used.others].reduce((sum, row) => sum + Number(row?.[of]), 0);
  expect([sumOf("requests"), sumOf("input_tokens"), sumOf("charge_usd")]).toEqual([
    used.total.requests,
    Number(used.total.input_tokens),
    Number(used.total.charge_usd),
  ]);
});

test("a few groups have a row and a series each, and there are no others", async () => {
  const used = await usageOf(on, "org_a", query({ group_by: "model" }));
  expect(new Map(used.rows.map(({ group, requests }) => [group, requests]))).toEqual(
    new Map([
      ["a", KEYS],
      ["b", KEYS],
    ]),
  );
  expect([used.series.length, used.others, used.others_series]).toEqual([2, null, null]);
  const total = await usageOf(on, "org_a", query({}));
  expect(total.rows).toMatchObject([{ group: null, label: "Total", requests: 2 * KEYS }]);
});

test("the CSV has every group of every bucket", async () => {
  const { lines } = await usageLines(on, "org_a", query({ group_by: "key", then_by: "model" }));
  const all = [...lines];
  expect(all).toHaveLength(2 * KEYS);
  expect(new Set(all.map(({ group, second }) => `${group} ${second}`)).size).toBe(2 * KEYS);
  expect(all.at(-1)).toMatchObject({ start: "2031-03-10T09:00:00.000Z", group: "key_1", second: "a" });
});
