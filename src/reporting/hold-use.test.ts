// The suggested output maximum, and that only the newest requests are read.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { nanoUsd } from "../domain/money.ts";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { type HoldUsePorts, holdUse, suggestedMaxTokens } from "./hold-use.ts";
import { limitStanding } from "./key-limit.ts";

test("a maximum is suggested a quarter above the 99th percentile of answers, if there are enough and it saves something", () => {
  const seen = { answers: 100, endedByMaximum: 10, outputP99: 400, outputBound: 4096 };
  expect(suggestedMaxTokens(seen)).toBe(512);
  expect(suggestedMaxTokens({ ...seen, outputP99: 410 })).toBe(576);
  expect(suggestedMaxTokens({ ...seen, outputP99: 0 })).toBe(64);
  expect(suggestedMaxTokens({ ...seen, outputBound: 683 })).toBe(512);
  expect(suggestedMaxTokens({ ...seen, outputBound: 682 })).toBeNull();
  expect(suggestedMaxTokens({ ...seen, answers: 19, endedByMaximum: 0 })).toBeNull();
  expect(suggestedMaxTokens({ ...seen, endedByMaximum: 11 })).toBeNull();
  expect(suggestedMaxTokens({ ...seen, outputP99: null })).toBeNull();
});

test("a key is blocked by holds only if its spend alone is below the limit", () => {
  const span = {
    period: "month" as const,
    limit: nanoUsd(100n),
    spent: nanoUsd(40n),
    held: nanoUsd(60n),
    resetsAtMs: 9,
  };
  const standing = (more: Partial<typeof span>, state: "active" | "revoked" = "active") =>
    limitStanding({ state, spans: [{ ...span, ...more }] })?.standing ?? "open";
  expect(standing({})).toBe("held");
  expect(standing({ spent: nanoUsd(100n), held: nanoUsd(0n) })).toBe("reached");
  expect(standing({ held: nanoUsd(50n) })).toBe("near");
  expect(standing({ held: nanoUsd(49n) })).toBe("open");
  expect(standing({}, "revoked")).toBe("open");
  expect(standing({ limit: nanoUsd(0n), spent: nanoUsd(0n) })).toBe("reached");
  expect(limitStanding({ state: "active", spans: [] })).toBeNull();
});

const NOW_MS = Date.UTC(2026, 10, 23, 12);

test("held, charged and the 99th percentile are of settled requests by key and model, and no more than 10,000 are read", async () => {
  const writer = new Database(":memory:", { safeIntegers: true });
  migrate(writer);
  const put = (from: number, to: number, [key, finish, tokens]: [string, string | null, string]): unknown =>
    writer.run(
      `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
       INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at, deadline_at, month,
         release_digest, hold, charge, prompt_bound, output_bound, opened_txn, closed_txn, completion_tokens, finish_reason)
       SELECT 'org_a', 'req_' || printf('%012x', ?3 + i) || '7000', ?4, 'm', 'standard', 0, 'settled', 1, ?3 + i, 0, '2026-11', 'd',
         1000, 50, 1, 4096, i, i, ${tokens}, ?5 FROM n`,
      [from, to, NOW_MS - 20_000, key, finish],
    );
  put(1, 4_000, ["key_old", "stop", "1"]);
  put(4_001, 4_100, ["key_1", "stop", "i - 4000"]);
  put(4_101, 4_101, ["key_1", null, "4000"]);
  put(4_102, 14_000, ["key_2", "length", "4096"]);
  const on = {
    sql: sqliteSql({ writer }),
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    ledger: { read: () => Promise.resolve([]) },
    labels: { keysOf: () => Promise.resolve(new Map([["key_1", { name: "One", scope: "" }]])) },
    standings: () => [],
  } as unknown as HoldUsePorts;
  const found = await holdUse(on, "org_a", { range: "24h" });
  expect(found).toMatchObject({ cut: true, from: new Date(NOW_MS - 20_000 + 4_001).toISOString() });
  expect(found.rows.map(({ key, requests }) => [key.id, requests])).toEqual([
    ["key_2", 9_899],
    ["key_1", 101],
  ]);
  expect(found.rows[1]).toEqual({
    key: { id: "key_1", name: "One" },
    model: "m",
    requests: 101,
    held_usd: "0.000101000",
    charge_usd: "0.000005050",
    used_percent: 5,
    output_bound: 4096,
    answers: 100,
    ended_by_maximum: 0,
    output_p99: 99,
    suggested_max_tokens: 128,
    frees_usd: null,
  });
  expect(found.rows[0]).toMatchObject({ ended_by_maximum: 9_899, suggested_max_tokens: null });
  const one = await holdUse(on, "org_a", { range: "24h", key: "key_1", model: "m" });
  expect(one.rows).toEqual(found.rows.slice(1));
  expect((await holdUse(on, "org_a", { range: "24h", key: "key_old" })).rows).toEqual([]);
});
