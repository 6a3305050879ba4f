// What needs attention is reported with its figures, and what is well is not listed.
import { expect, test } from "bun:test";
import type { AlertRuleJson } from "../api/shapes/alerts.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import type { KeyRecord } from "../registry/api-keys.ts";
import type { Query } from "../store/sql.ts";
import { type AttentionPorts, attentionOf } from "./attention.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const HOUR_MS = 3_600_000;
const usd = (amount: number): NanoUsd => nanoUsd(BigInt(Math.round(amount * 1e9)));

const RESETS_MS = { day: Date.UTC(2026, 10, 24), week: Date.UTC(2026, 10, 30), month: Date.UTC(2026, 11) };
type Figures = [number, number, number];
const key = (name: string, month: Figures, more: Partial<Record<"day" | "week", Figures>> = {}): KeyRecord =>
  ({
    id: `key_${name}`,
    name,
    state: "active",
    spans: Object.entries({ ...more, month }).map(([period, [limit, spent, held]]) => ({
      period,
      limit: usd(limit),
      spent: usd(spent),
      held: usd(held),
      resetsAtMs: RESETS_MS[period as keyof typeof RESETS_MS],
    })),
  }) as unknown as KeyRecord;
const route = (model: string, hours: number, state: "live" | "stale" | "disabled" = "live") => ({
  route: `${model}@eu`,
  model,
  provider: "p",
  region: "eu",
  state,
  reason: { live: null, stale: "expired", disabled: "moving" }[state],
  expires_at: new Date(NOW_MS + hours * HOUR_MS).toISOString(),
});
const rule = (more: Partial<AlertRuleJson>): AlertRuleJson =>
  ({ id: "alr_1", kind: "spend_per_day", amount_usd: "5", on: true, firing: true, ...more }) as AlertRuleJson;

/** Every query of the store finds no row. */
async function fromNothing<T>(work: (nowMs: number) => Query<T>): Promise<T> {
  const asking = work(NOW_MS);
  let step = asking.next();
  while (step.done !== true) step = asking.next([]);
  return step.value;
}

const on = (rules: AlertRuleJson[]) =>
  ({
    ledger: { read: fromNothing },
    paymentService: { autoTopUp: () => Promise.resolve({ last_failure: null }) },
    alertService: { rules: () => Promise.resolve({ data: rules }) },
  }) as unknown as AttentionPorts;
const well = {
  keys: [],
  routes: [],
  available: usd(100),
  debt: usd(0),
  burn: usd(0),
  spentToday: usd(7.5),
  nowMs: NOW_MS,
};

test("keys: at the limit, blocked by holds alone, near it; each with what is spent, held and allowed", async () => {
  const keys = [
    key("open", [10, 8, 0.9]),
    key("near", [10, 9, 0.3]),
    key("blocked", [10, 9.844, 0.156]),
    key("spent", [10, 10.02, 0]),
    key("shut", [0, 0, 0]),
    key("today", [10, 9.5, 0], { day: [1, 1.2, 0], week: [3, 2, 1] }),
    key("this week", [10, 9.5, 0], { day: [1, 0.1, 0.9], week: [3, 2, 1] }),
  ];
  const found = await attentionOf(on([]), "org_a", { ...well, keys });
  expect(found.map(({ kind, target, text }) => [kind, target, text])).toEqual([
    [
      "key_near_limit",
      "key_near",
      "near is at 93 % of its monthly limit: $9.30 of its $10.00 is spent or held.",
    ],
    [
      "key_blocked_by_holds",
      "key_blocked",
      "blocked is blocked by $0.16 of running holds: $9.84 of its monthly $10.00 is spent. Raise the limit, or wait until they end.",
    ],
    [
      "key_at_limit",
      "key_spent",
      "spent has reached its monthly limit: $10.02 of its $10.00 is spent. It works again from 2026-12-01 00:00 UTC, or with a higher limit.",
    ],
    [
      "key_at_limit",
      "key_shut",
      "shut has reached its monthly limit: $0.00 of its $0.00 is spent. It works again from 2026-12-01 00:00 UTC, or with a higher limit.",
    ],
    [
      "key_at_limit",
      "key_today",
      "today has reached its daily limit: $1.20 of its $1.00 is spent. It works again from 2026-11-24 00:00 UTC, or with a higher limit.",
    ],
    [
      "key_blocked_by_holds",
      "key_this week",
      "this week is blocked by $1.00 of running holds: $2.00 of its weekly $3.00 is spent. Raise the limit, or wait until they end.",
    ],
  ]);
});

test("of many keys twenty are listed, those at their limit before those near it, and the number of the rest", async () => {
  const near = Array.from({ length: 15 }, (_, n) => key(`near${n}`, [10, 9.5, 0]));
  const spent = Array.from({ length: 985 }, (_, n) => key(`spent${n}`, [10, 10, 0]));
  const found = await attentionOf(on([]), "org_a", { ...well, keys: [...near, ...spent] });
  expect(found.map(({ kind }) => kind)).toEqual([...Array(20).fill("key_at_limit"), "key_near_limit"]);
  expect(found.at(-1)).toEqual({
    kind: "key_near_limit",
    target: null,
    search: null,
    text: "980 more keys are at or near a limit.",
  });
  const few = await attentionOf(on([]), "org_a", { ...well, keys: [...near, ...spent.slice(0, 6)] });
  expect(few.map(({ kind }) => kind)).toEqual([
    ...Array(14).fill("key_near_limit"),
    ...Array(6).fill("key_at_limit"),
    "key_near_limit",
  ]);
  expect(few.at(-1)?.text).toBe("One more key is at or near a limit.");
});

test("routes: a release that ends within 48 hours, and a closed one with the reason; a later end is not listed", async () => {
  const routes = [
    route("later", 48),
    route("soon", 47.5),
    route("gone", -100, "stale"),
    route("off", 999, "disabled"),
  ];
  const found = await attentionOf(on([]), "org_a", { ...well, routes });
  expect(found.map(({ kind, search, text }) => [kind, search, text])).toEqual([
    [
      "release_ends",
      "soon",
      "The release of soon@eu ends in 47 h, on 2026-11-25 11:30 UTC: without a newer one, soon is no longer served on it.",
    ],
    [
      "route_closed",
      "gone",
      "gone@eu is stale: its release ended on 2026-11-19 08:00 UTC. gone is not served on it.",
    ],
    ["route_closed", "off", "off@eu is disabled: moving. off is not served on it."],
  ]);
});

test("credits: how much, how long, at what pace; a rule that holds names its amount and how it stands", async () => {
  const texts = async (figures: Partial<typeof well>, rules: AlertRuleJson[] = []): Promise<string[]> =>
    (await attentionOf(on(rules), "org_a", { ...well, ...figures })).map(({ text }) => text);
  expect(await texts({ available: usd(12), burn: usd(5) })).toEqual([
    "$12.00 of credits are left: 2 days at $5.00 a day, the pace of the last 7 days.",
  ]);
  expect(await texts({ available: usd(15), burn: usd(5) })).toEqual([]);
  expect(await texts({ available: usd(0), debt: usd(3.5), burn: usd(5) })).toEqual([
    "A debt of $3.50 stops every request. Add credits.",
  ]);
  expect(
    await texts({}, [rule({}), rule({ on: false }), rule({ firing: false }), rule({ kind: "key_limit" })]),
  ).toEqual(["An alert is firing: today's spend is above $5.00; it is $7.50."]);
});
