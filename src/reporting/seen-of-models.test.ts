// What requests showed of models is read from the newest of one organization, in one walk along the primary
// key, whatever is adjacent.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { plannedSql } from "../../test/support/planned-sql.ts";
import { sinceRequest } from "./request-time.ts";
import { seenOfModels } from "./seen-of-models.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;

test("uptime and time to first token of an organization's newest requests, by model", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  writer.run("PRAGMA foreign_keys = OFF");
  let count = 0;
  type Row = [org: string, model: string, atMs: number, status: number | null, firstMs: number | null];
  const add = (...[org, model, atMs, status, firstMs]: Row): unknown =>
    writer.run(
      `INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
         release_digest, hold, prompt_bound, output_bound, opened_txn, closed_txn, status, first_part_ms)
       VALUES (?1, ?2, 'key_1', ?3, 'standard', 0, ?4, 1, 0, 0, '2026-11', 'd', 0, 1, 1, 1, ?5, ?6, ?7)`,
      [
        org,
        `${sinceRequest(atMs)}${String(count++).padStart(20, "0")}`,
        model,
        status === null ? "dispatched" : "settled",
        status === null ? null : 1,
        status,
        firstMs,
      ],
    );
  for (const ms of [300, 100, 200]) add("org_a", "fast", NOW_MS - ms, 200, ms);
  add("org_a", "fast", NOW_MS - DAY_MS, 502, null);
  add("org_a", "fast", NOW_MS - 8 * DAY_MS, 502, null);
  add("org_a", "fast", NOW_MS - 10, null, null);
  add("org_a", "down", NOW_MS - 20, 503, null);
  add("org_a", "damaged", NOW_MS - 30, 200, -5);
  add("org_b", "fast", NOW_MS - 40, 502, 9_000);
  const { sql, plans } = plannedSql(writer);
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  const seen = await seenOfModels({ sql, clock }, "org_a");
  expect(Object.fromEntries(seen)).toEqual({
    fast: { requests: 4, uptime: 0.75, first_part_ms_p50: 200 },
    down: { requests: 1, uptime: 0, first_part_ms_p50: null },
    damaged: { requests: 1, uptime: 1, first_part_ms_p50: null },
  });
  expect(plans).toEqual([["SEARCH request USING PRIMARY KEY (org_id=? AND request_id>?)"]]);
  for (let at = 0; at < 2000; at++) add("org_a", "new", NOW_MS, 200, 1);
  expect([...(await seenOfModels({ sql, clock }, "org_a")).keys()]).toEqual(["new"]);
});
