// When a day is called unusual, whose it is said to be, and that too little history reports nothing.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { nanoUsd } from "../domain/money.ts";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import type { LabelBook } from "./labels.ts";
import { unlike, unusualDayOf } from "./unusual-day.ts";

const usd = (amount: number) => nanoUsd(BigInt(Math.round(amount * 1e9)));
const week = (...days: number[]) => days.map(usd);

test("above three times the median of used days plus ten cents is unusual", () => {
  const days = week(1, 0.2, 0.9, 1.1, 5, 1, 1.2, 0, 0);
  expect(unlike(days, usd(14))).toEqual({ usual_usd: "1.000000000", times: "14.0" });
  expect(unlike(days, usd(3))).toMatchObject({ times: "3.0" });
  expect(unlike(days, usd(2.999999999))).toBeNull();
  expect(unlike(week(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01), usd(0.1))).toBeNull();
  expect(unlike(week(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01), usd(0.11))).toMatchObject({ times: "11.0" });
});

test("six days of use are too few to judge, however many days without", () => {
  expect(
    unlike([...week(1, 1, 1, 1, 1, 1), ...Array.from({ length: 22 }, () => usd(0))], usd(99)),
  ).toBeNull();
  expect(unlike([], usd(99))).toBeNull();
});

const DAY = Math.floor(Date.UTC(2026, 10, 23) / 86_400_000);
const NOW_MS = DAY * 86_400_000 + 9 * 3_600_000;

test("today is summed by UTC day; a key or model with half of it is named, days long ago do not count", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  const use = (ago: number, charge: number, [key, model] = ["key_1", "m"]): unknown =>
    writer.run(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES ('org_a', ?1, ?2, ?3, 1, 1, 0, 1, ?4)`,
      [key ?? "", model ?? "", (DAY - ago) * 24 + (ago % 24), usd(charge)],
    );
  for (let ago = 1; ago <= 7; ago++) use(ago, 1);
  use(28, 1);
  use(29, 1000);
  use(0, 8, ["key_batch", "m"]);
  use(0, 2, ["key_1", "other"]);
  const labels = { keysOf: () => Promise.resolve(new Map([["key_batch", { name: "batch", scope: "" }]])) };
  const on = { sql: sqliteSql({ writer }), labels: labels as unknown as LabelBook };
  expect(await unusualDayOf(on, "org_a", NOW_MS)).toEqual({
    spent_usd: "10.000000000",
    usual_usd: "1.000000000",
    times: "10.0",
    key: { id: "key_batch", name: "batch", percent: 80 },
    model: { id: "m", percent: 80 },
  });
  use(0, 9, ["key_2", "third"]);
  expect(await unusualDayOf(on, "org_a", NOW_MS)).toMatchObject({ times: "19.0", key: null, model: null });
  expect(await unusualDayOf(on, "org_b", NOW_MS)).toBeNull();
});
