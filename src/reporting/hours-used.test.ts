// Hours are found by seeks in SQLite: the result equals that of a table scan, whatever was used and whoever
// asks.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { rowsOf } from "../store/query.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { hoursUsed, hoursUsedByAll } from "./hours-used.ts";

const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
const used = ["org_a", "org_b", "org_c"].flatMap((org, o) => {
  writer.run("INSERT INTO organization (org_id, name, created_at) VALUES (?1, ?1, 0)", [org]);
  return ["", "key_1", "key_10", "key_2"]
    .slice(o)
    .flatMap((key) =>
      ["a", "a/b", "b"].flatMap((model, m) =>
        [99, 100, 149, 150].slice(m).map((hour) => ({ org, key, model, hour })),
      ),
    );
});
for (const { org, key, model, hour } of used)
  writer.run(
    `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
     VALUES (?1, ?2, ?3, ?4, 1, 1, 0, 1, 1)`,
    [org, key, model, hour],
  );
writer.run("INSERT INTO organization (org_id, name, created_at) VALUES ('org_without', 'x', 0)");
const sql = sqliteSql({ writer });

const found = async (hours: ReturnType<typeof hoursUsedByAll>): Promise<unknown[]> =>
  await rowsOf(
    sql,
    hours
      .select(["org_id as org", "key_id as key", "model", "hour"])
      .orderBy("org_id")
      .orderBy("key_id")
      .orderBy("model")
      .orderBy("hour"),
  );
type Hour = (typeof used)[number];
const expected = (which: (hour: Hour) => boolean): unknown[] =>
  used.filter(which).map((hour) => ({ ...hour, hour: BigInt(hour.hour) }));

test("every key and model of an organization, its first and last hour, and nobody else's", async () => {
  const inSpan = ({ hour }: Hour) => hour >= 100 && hour < 150;
  const span = { first: 100, behind: 150 };
  for (const org of ["org_a", "org_b", "org_c", "org_without"])
    expect(await found(hoursUsed(sql, org, span))).toEqual(
      expected((hour) => hour.org === org && inSpan(hour)),
    );
  expect(await found(hoursUsed(sql, "org_b", { first: 100 }))).toEqual(
    expected(({ org, hour }) => org === "org_b" && hour >= 100),
  );
});

test("of one key or of one model, and of both", async () => {
  const part = (key?: string, model?: string) =>
    found(hoursUsed(sql, "org_a", { first: 0, keys: key === undefined ? undefined : [key], model }));
  const ofA = (which: (hour: Hour) => boolean) => expected((hour) => hour.org === "org_a" && which(hour));
  expect(await part("key_1")).toEqual(ofA(({ key }) => key === "key_1"));
  expect(await part(undefined, "a/b")).toEqual(ofA(({ model }) => model === "a/b"));
  expect(await part("key_2", "b")).toEqual(ofA(({ key, model }) => key === "key_2" && model === "b"));
  expect(await part("key_3")).toEqual([]);
});

test("of all organizations", async () => {
  expect(await found(hoursUsedByAll(sql, { first: 149 }))).toEqual(expected(({ hour }) => hour >= 149));
});
