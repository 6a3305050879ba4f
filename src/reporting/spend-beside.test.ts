// Which hours a window is compared with, and that each sum covers only its own hours.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { nanoUsd, sumUsd } from "../domain/money.ts";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { dearestBeside, dearestModels, hoursOf, printBeside, spendByModel } from "./spend-beside.ts";

const HOUR_MS = 3_600_000;
const hour = (...at: [number, number, number, number?]): number => Date.UTC(...at) / HOUR_MS;

test("a range is compared with as many hours before it, the current one included", () => {
  const toMs = Date.UTC(2026, 10, 23, 9, 30);
  expect(hoursOf({ fromMs: toMs - 24 * HOUR_MS, toMs }, false)).toEqual({
    from: hour(2026, 10, 22, 9),
    to: hour(2026, 10, 23, 10),
    beforeFrom: hour(2026, 10, 21, 8),
    beforeTo: hour(2026, 10, 22, 9),
  });
});

test("a month is compared with the same part of the previous month, and never with more than that had", () => {
  const month = (toMs: number) => hoursOf({ fromMs: Date.UTC(2026, 2), toMs }, true);
  expect(month(Date.UTC(2026, 2, 2, 5))).toEqual({
    from: hour(2026, 2, 1),
    to: hour(2026, 2, 2, 6),
    beforeFrom: hour(2026, 1, 1),
    beforeTo: hour(2026, 1, 2, 6),
  });
  expect(month(Date.UTC(2026, 2, 31, 5)).beforeTo).toBe(hour(2026, 2, 1));
});

test("spend is compared with the time before; what was not used in the window is not among the most expensive", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  const hours = { from: 200, to: 300, beforeFrom: 100, beforeTo: 150 };
  const use = (model: string, at: number, charge: number): unknown =>
    writer.run(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES ('org_a', 'key_1', ?1, ?2, 1, 1, 0, 1, ?3)`,
      [model, at, charge],
    );
  use("grows", 100, 1_000);
  use("grows", 149, 1_000);
  use("grows", 150, 50_000);
  use("grows", 199, 50_000);
  use("grows", 200, 2_500);
  use("grows", 299, 500);
  use("grows", 300, 9_000);
  use("new", 250, 7_000);
  use("gone", 120, 9_000);
  use("gone", 99, 9_000);
  const sql = sqliteSql({ writer });
  const models = await spendByModel(sql, "org_a", {
    ...hours,
    week: 200,
    today: 290,
    month: 150,
    since: 100,
  });
  expect(printBeside(models)).toEqual({
    requests: 3,
    charge_usd: "0.000010000",
    before_usd: "0.000011000",
    percent: "-9.1",
  });
  expect(dearestModels(models, 5).map(({ model }) => model)).toEqual(["new", "grows"]);
  expect(models.find(({ model }) => model === "gone")).toMatchObject({ requests: 0, lastHour: 120 });
  const since = (of: "week" | "today" | "month") => sumUsd(models.map((model) => model[of]));
  expect([since("week"), since("today"), since("month")]).toEqual([19_000n, 9_500n, 119_000n].map(nanoUsd));
  expect(await dearestBeside(sql, "org_a", { hours, column: "model", most: 5 })).toMatchObject([
    { group: "new", spent: 7_000n, beside: { requests: 1, before_usd: "0.000000000", percent: null } },
    { group: "grows", spent: 3_000n, beside: { requests: 2, before_usd: "0.000002000", percent: "+50.0" } },
  ]);
});
