// The users of a model are read key by key, without scanning all hours; and each organization gets its own
// sums.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { plannedSql } from "../../test/support/planned-sql.ts";
import { modelUse } from "./model-use.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const HOUR = Math.floor(NOW_MS / 3_600_000);

test("thirty days of one model by organization, most requests first, using only index seeks", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  for (const [org, key] of [
    ["org_a", "key_1"],
    ["org_a", "key_2"],
    ["org_b", "key_3"],
  ] as const) {
    writer.run("INSERT OR IGNORE INTO organization (org_id, name, created_at) VALUES (?1, ?2, 0)", [
      org,
      `Name of ${org}`,
    ]);
    writer.run(
      `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at)
       VALUES (?1, ?2, 'Key', 'gw_sk_', ?3, 'standard', 0)`,
      [org, key, Buffer.alloc(32, key)],
    );
  }
  const use = (...row: [org: string, key: string, model: string, hour: number, requests: number]): unknown =>
    writer.run(
      `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       VALUES (?1, ?2, ?3, ?4, ?5, 1, 0, 1, 1000)`,
      row,
    );
  use("org_a", "key_1", "m", HOUR, 2);
  use("org_a", "key_2", "m", HOUR - 720, 3);
  use("org_a", "key_2", "m", HOUR - 721, 100);
  use("org_a", "key_2", "other", HOUR, 100);
  use("org_b", "key_3", "m", HOUR - 1, 7);
  const { sql, plans } = plannedSql(writer);
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  expect(await modelUse({ sql, clock }, "m")).toEqual({
    model: "m",
    since: new Date((HOUR - 720) * 3_600_000).toISOString(),
    organizations: 2,
    requests: 12,
    charge_usd: "0.000003000",
    data: [
      { org: "org_b", name: "Name of org_b", requests: 7, charge_usd: "0.000001000" },
      { org: "org_a", name: "Name of org_a", requests: 5, charge_usd: "0.000002000" },
    ],
  });
  expect(plans.flat().filter((step) => step.includes("usage_hour"))).toEqual(
    Array.from(
      { length: 2 },
      () => "SEARCH usage_hour USING PRIMARY KEY (org_id=? AND key_id=? AND model=? AND hour>?)",
    ),
  );
});
