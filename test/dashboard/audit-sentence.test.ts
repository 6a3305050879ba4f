// Lines of the audit log as sentences: actions that have a sentence, and those of future versions.
import { expect, test } from "bun:test";
import { plain, rawOf, sentenceOf, type Told } from "../../dashboard/pages/audit/sentence.ts";
import { ORGANIZATION_ACTIONS } from "../../src/domain/audit-actions.ts";

const line = (action: string, over: Partial<Told> & { from?: object; to?: object } = {}): Told => {
  const { from, to, ...rest } = over;
  return {
    action,
    target: "key_1",
    target_name: "Batch",
    before: from === undefined ? null : JSON.stringify(from),
    after: to === undefined ? null : JSON.stringify(to),
    ...rest,
  };
};
const limit = (from: string | null, to: string | null) =>
  plain(sentenceOf(line("key.limit", { from: { limit_usd: from }, to: { limit_usd: to } })));

test("a limit is raised, lowered, set or removed, with the amounts", () => {
  expect(limit("5.000000000", "10.000000000")).toBe(
    "raised the monthly limit of the key Batch from $5.00 to $10.00",
  );
  expect(limit("10.000000000", "9.990000000")).toBe(
    "lowered the monthly limit of the key Batch from $10.00 to $9.99",
  );
  expect(limit(null, "10.000000000")).toBe("set the monthly limit of the key Batch to $10.00");
  expect(limit("10.000000000", null)).toBe("lifted the monthly limit of the key Batch, which was $10.00");
});

test("one request a minute and one day are in the singular", () => {
  const set = line("limits.set", { to: { requests_per_minute: 1, tokens_per_minute: 1, concurrent: 1 } });
  expect(plain(sentenceOf(set))).toBe(
    "set limits of Batch: 1 request per minute, 1 token per minute, 1 request at once",
  );
  const rule = line("alert_rule.create", { to: { kind: "days_left_below", days: 1 } });
  expect(plain(sentenceOf(rule))).toBe("added an alert rule: days left below 1 day");
  const output = line("key.settings", { from: { max_output_tokens: 512 }, to: { max_output_tokens: 1 } });
  expect(plain(sentenceOf(output))).toBe("changed the key Batch: maximum output 1 token (was 512 tokens)");
});

test("a new data key is reported with the reason, if it was leaked", () => {
  const rotated = (leaked: boolean) => plain(sentenceOf(line("data_key.rotate", { to: { leaked } })));
  expect([rotated(false), rotated(true)]).toEqual([
    "changed the data key of the store",
    "changed the data key of the store, because the old one was leaked",
  ]);
});

test("changed rate limits are listed, unchanged ones are not", () => {
  const set = (from: object, to: object) => plain(sentenceOf(line("limits.set", { from, to })));
  expect(set({ requests_per_minute: null }, { requests_per_minute: 60, concurrent: null })).toBe(
    "set limits of Batch: 60 requests per minute",
  );
  expect(
    set(
      { model: "gpt", tokens_per_minute: 5000, concurrent: 2 },
      { model: "gpt", tokens_per_minute: null, concurrent: 4 },
    ),
  ).toBe("set limits of Batch on gpt: no limit of tokens per minute (was 5000), 4 requests at once (was 2)");
  const ofModel = {
    target: "gpt",
    target_name: null,
    from: { model: "gpt" },
    to: { model: "gpt", concurrent: 4 },
  };
  expect(plain(sentenceOf(line("limits.set", ofModel)))).toBe(
    "set limits of gpt for each organization: 4 requests at once",
  );
});

test.each([
  [
    line("key.create", { to: { name: "CI", scope: "research", limit_usd: null } }),
    "created the research key CI without a monthly limit",
  ],
  [
    line("key.create", { to: { name: "CI", scope: "standard", limit_usd: "5", replaces: "key_0" } }),
    "created the standard key CI in place of the one of this name, with a monthly limit of $5.00",
  ],
  [line("key.pause", { to: { paused_at: "2019-11-20T10:00:00.000Z" } }), "paused the key Batch"],
  [line("key.resume", { from: { paused_at: "2019-11-20T10:00:00.000Z" } }), "resumed the key Batch"],
  [
    line("key.expire", { to: { expires_at: "2019-11-20T10:00:00.000Z" } }),
    "ended the key Batch, whose time was over on 20 Nov 2019",
  ],
  [
    line("key.settings", {
      from: { day_limit_usd: null, allowed_models: null, expires_at: null },
      to: {
        day_limit_usd: "5.000000000",
        allowed_models: ["gpt-5", "qwen3"],
        expires_at: "2019-12-03T00:00:00.000Z",
      },
    }),
    "changed the key Batch: daily limit $5.00 (was none), models gpt-5 and qwen3 (was all), ends on 3 Dec 2019 (was no day)",
  ],
  [
    line("key.settings", { from: { max_output_tokens: 512 }, to: { max_output_tokens: null, odd_field: 1 } }),
    "changed the key Batch: maximum output none (was 512 tokens), odd field 1 (was none)",
  ],
  [
    line("member.role", { target_name: "Ada", from: { role: "viewer" }, to: { role: "admin" } }),
    "changed the role of Ada from viewer to admin",
  ],
  [
    line("credits.refund", {
      target: 'req_1 ["operator","REF-1"]',
      target_name: null,
      from: { available_usd: "1.000000000" },
      to: { available_usd: "1.000000500" },
    }),
    "gave credits back for the request req_1, under the reference REF-1; available went from $1.00 to $1.0000005",
  ],
  [
    line("limits.set", {
      from: { model: "m", set_by: "operator", requests_per_minute: null, concurrent: 5 },
      to: { model: "m", set_by: "operator", requests_per_minute: 60, concurrent: 5 },
    }),
    "set limits of Batch on m: 60 requests per minute",
  ],
  [
    line("credits.grant", {
      target: '["operator","INV-1"]',
      target_name: null,
      from: { available_usd: "1.000000000" },
      to: { available_usd: "6.000000000" },
    }),
    "granted credits under the reference INV-1; available went from $1.00 to $6.00",
  ],
  [
    line("route.disable", { target: "r-1", target_name: null, to: { disabled: true, reason: "too slow" } }),
    "disabled the route r-1: too slow",
  ],
  [
    line("organization.settings", { to: { require_two_factor: true } }),
    "now asks members for a second factor",
  ],
])("%j", (told, sentence) => expect(plain(sentenceOf(told))).toBe(sentence));

test("every action that an organization's log can have is a sentence of its own", () => {
  for (const action of ORGANIZATION_ACTIONS) {
    const told = plain(sentenceOf(line(action)));
    expect(told).not.toStartWith(action.replaceAll(/[._]/g, " "));
    expect(told).not.toMatch(/undefined|\[object/);
  }
});

test("an action of a future version, damaged values and names of objects still give a sentence", () => {
  const told = (one: Told) => plain(sentenceOf(one));
  expect(told(line("key.daily_limit", { from: { usd: "1" }, to: { usd: "2", on: true } }))).toBe(
    "key daily limit: Batch, usd from 1 to 2, on true",
  );
  expect(told(line("key.limit", { before: '{"limit', after: "7" }))).toBe(
    "set the monthly limit of the key Batch to none",
  );
  expect(told(line("constructor"))).toBe("constructor: Batch");
  expect(told(line("key.revoke", { target_name: null }))).toBe("revoked the key key_1");
});

test("the raw line follows the sentence", () => {
  expect(rawOf(line("key.limit", { to: { limit_usd: "5" } }))).toBe('key.limit key_1\n– → {"limit_usd":"5"}');
});
