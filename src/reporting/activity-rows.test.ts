// A row of the activity page shows the tokens written to a cache, and a damaged record hides no row.
import { expect, test } from "bun:test";
import { ZERO_USD } from "../domain/money.ts";
import { type HeldRow, newestOfBoth, requestRow } from "./activity-rows.ts";

const ROW: HeldRow = {
  request_id: "req_1",
  key_id: "key_1",
  model: "m",
  tier: "standard",
  state: "settled",
  stream: 0n,
  admitted_at: 0n,
  hold: ZERO_USD,
  charge: ZERO_USD,
  status: 200n,
  error_code: null,
  finish_reason: "stop",
  prompt_tokens: 60n,
  completion_tokens: 20n,
  cached_tokens: 10n,
  usage_classes: null,
  first_part_ms: 1n,
  total_ms: 2n,
  release_digest: "d",
  prompt_bound: 100n,
  output_bound: 100n,
  answer_until: null,
  claim_until: null,
  surface: null,
};

test.each([
  ["as many as were written to a cache", '{"cacheWriteTokens":40,"calls":2}', 40],
  ["none that were told", null, null],
  ["other classes only", '{"calls":2}', null],
  ["what is no JSON", "{", null],
  ["what is no count", '{"cacheWriteTokens":"40"}', null],
])("cache writes of a request: %s", (_, usage_classes, expected) => {
  const row = requestRow({ ...ROW, usage_classes }, { keys: new Map(), releases: new Map() });
  expect([row.input_tokens, row.cached_tokens, row.cache_write_tokens, row.output_tokens]).toEqual([
    60,
    10,
    expected,
    20,
  ]);
});

test("of two sources only the newest rows are kept, before anything is looked up for them", () => {
  const rows = (...ids: number[]): { request_id: string }[] => ids.map((id) => ({ request_id: `req_${id}` }));
  const both = { held: rows(9, 6, 5), logged: rows(8, 7, 1) };
  expect(newestOfBoth(both, 3)).toEqual({ held: rows(9), logged: rows(8, 7) });
  expect(newestOfBoth(both, 6)).toEqual(both);
  expect(newestOfBoth(both, 7)).toEqual(both);
});
