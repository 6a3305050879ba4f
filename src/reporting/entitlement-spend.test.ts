// What was spent under each of many entitlements: the hours of their model are read once for all of them.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { plannedSql } from "../../test/support/planned-sql.ts";
import { spendsOf } from "./entitlement-spend.ts";

const HOUR_MS = 3_600_000;
const HOUR = Math.floor(Date.UTC(2026, 10, 23) / HOUR_MS);
const MANY = 60;

test("a list of entitlements reads the hours of a model once, and each has the charges of its own time", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  for (const org of ["org_a", "org_b"])
    writer.run("INSERT INTO organization (org_id, name, created_at) VALUES (?1, 'Lab', 0)", [org]);
  const use = (...row: [org: string, key: string, model: string, hour: number, charge: number]): unknown =>
    writer.run(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES (?1, ?2, ?3, ?4, 1, 1, 0, 1, ?5)`,
      row,
    );
  for (let n = 0; n < MANY + 10; n += 1) {
    use("org_a", "key_1", "m", HOUR + n, 10);
    use("org_a", "key_2", "m", HOUR + n, 1);
  }
  use("org_a", "key_1", "other", HOUR + 3, 5000);
  use("org_b", "key_3", "m", HOUR + 1, 7);
  const entitle = (org: string, n: number, endsAt: number | null): unknown =>
    writer.run(
      `INSERT INTO entitlement (org_id, model, id, project, state, requested_by, approved_by, created_at, approved_at, expires_at)
       VALUES (?1, 'm', ?2, 'p', 'active', 'usr_1', 'usr_2', 0, ?3, ?4)`,
      [org, `ent_${org}_${n}`, (HOUR + n) * HOUR_MS, endsAt],
    );
  for (let n = 0; n < MANY; n += 1) entitle("org_a", n, (HOUR + n + 5) * HOUR_MS);
  entitle("org_a", MANY, null);
  entitle("org_b", 0, null);
  const ids = writer
    .query<{ id: string }, []>("SELECT id FROM entitlement")
    .all()
    .map(({ id }) => id);
  const { sql, plans } = plannedSql(writer);
  const spends = await spendsOf(sql, ids);
  for (let n = 0; n < MANY; n += 1) expect([n, spends.get(`ent_org_a_${n}`)]).toEqual([n, 55n as never]);
  expect([spends.get(`ent_org_a_${MANY}`), spends.get("ent_org_b_0")]).toEqual([110n, 7n] as never);
  expect(plans.filter((steps) => steps.some((step) => step.includes("usage_hour")))).toHaveLength(2);
});
