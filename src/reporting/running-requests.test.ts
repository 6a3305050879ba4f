// The few requests that run have an index of their own: whatever looks for them reads it, and not everything that their
// organization ever sent.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { plannedSql } from "../../test/support/planned-sql.ts";
import { activityPage, type ActivityPorts } from "./activity.ts";
import { activityHistogramOf } from "./activity-histogram.ts";
import { billingSums, openHolds } from "./billing.ts";
import { LabelBook } from "./labels.ts";
import { requestsOfAll } from "./operator-requests.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);

const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
writer.run("INSERT INTO organization (org_id, name, created_at) VALUES ('org_a', 'A', 0), ('org_b', 'B', 0)");
writer.run(
  `INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
   SELECT org_id, 0, 0, 0, 0, 0, 0, 0, 0, zeroblob(32), 0 FROM organization`,
);
writer.run(
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
   INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
     release_digest, hold, prompt_bound, output_bound, opened_txn, closed_txn)
   SELECT CASE WHEN i % 2 = 0 THEN 'org_a' ELSE 'org_b' END, 'req_' || printf('%012x', ?1 + i) || '7' || printf('%019x', i), 'key_1',
     'm', 'standard', 0, CASE WHEN i % 100 < 2 THEN 'dispatched' ELSE 'settled' END, 1, ?1 + i, 0, '2026-11', 'd', 5, 1, 1, i,
     CASE WHEN i % 100 < 2 THEN NULL ELSE i END FROM n`,
  [NOW_MS - 1_000],
);

function planned() {
  const { sql, plans } = plannedSql(writer);
  const ledger = { read: () => Promise.resolve([]) } as never;
  const labels = new LabelBook(sql, ledger);
  labels.releasesOf = () => Promise.resolve(new Map());
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  const on: ActivityPorts = { sql, clock, ledger, labels, flushRequestLog: () => Promise.resolve() };
  const read = (): string[] =>
    plans
      .flat()
      .filter((step) => /^(SCAN|SEARCH) request /.test(step))
      .map((step) => step.replace("COVERING ", ""));
  return { on, read };
}
const BY_INDEX = "SCAN request USING INDEX request_unfinished";

test("a page of running requests, and of open holds, in the order of their ids", async () => {
  const { on, read } = planned();
  const first = await activityPage(on, "org_a", { state: "running", limit: 3 });
  const rest = await activityPage(on, "org_a", { state: "running", cursor: first.next_cursor ?? "" });
  const holds = await openHolds(on, "org_a", {});
  expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(holds.data.map(({ request }) => request));
  expect([first.data.length, rest.data.length, rest.next_cursor]).toEqual([3, 1, null]);
  expect(new Set(read())).toEqual(new Set([BY_INDEX]));
});

test("the number of open holds, and running requests over time", async () => {
  const { on, read } = planned();
  expect((await billingSums(on, "org_a")).open_holds).toBe(4);
  const { states } = await activityHistogramOf(on, "org_a", { state: "running", range: "24h" });
  expect(states.find(({ state }) => state === "running")?.counts.at(-1)).toBe(4);
  expect(new Set(read())).toEqual(new Set([BY_INDEX]));
});

test("running requests of all organizations, on one page whenever they began", async () => {
  const { on, read } = planned();
  const { data, searched_to } = await requestsOfAll(on, { state: "running" }, 1);
  expect([data.length, searched_to]).toEqual([8, null]);
  expect(new Set(read())).toEqual(new Set([BY_INDEX]));
});
