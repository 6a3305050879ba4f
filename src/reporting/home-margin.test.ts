// The margin, computed from rows as both stores return them: if several list prices may apply, the amounts it
// lies between.
import { expect, test } from "bun:test";
import { openTable } from "../releases/catalogue/table.ts";
import type { RouteStanding } from "../releases/standing.ts";
import type { Sql } from "../store/sql.ts";
import { marginOf } from "./home-margin.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const table = await openTable(undefined, NOW_MS);
const flat = table.entries.filter(({ tiers }) => tiers.length === 0);
const stepped = table.entries.find(({ tiers }) => tiers.length > 0);
const [first, second] = flat.filter(({ provider }) => provider === flat[0]?.provider);
if (first === undefined || second === undefined || stepped === undefined) throw new Error("an empty table");

const half = (amount: bigint): string => `${amount / 2n ** 31n} ${amount % 2n ** 31n}`;
const used = (model: string, charge: bigint, tokens = 1_000_000n) => ({
  model,
  charge: half(charge),
  input: half(tokens),
  cached: half(0n),
  written: half(0n),
  output: half(0n),
});
const route = (model: string, provider: string, upstreamModel: string) =>
  ({ release: { model, provider, upstreamModel } }) as RouteStanding;

const VARIANCE = [{ org_id: "org_a", release: "d", walked: 1n, last: "req_1", amount: half(7n) }];
const margin = (rows: object[], routes: RouteStanding[]) =>
  marginOf({
    sql: {
      dialect: "sqlite",
      rows: (text: string) => Promise.resolve(text.includes("usage_hour") ? rows : VARIANCE),
    } as unknown as Sql,
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    standings: () => routes,
    providers: [first, stepped].map(({ provider }) => ({ name: `my-${provider}`, kind: provider })),
  });
/** For a million input tokens. */
const listed = ({ rates }: typeof first): bigint => {
  const { digits = 0n, scale = 0 } = rates.input_per_million ?? {};
  return (digits * 1_000_000_000n) / 10n ** BigInt(scale);
};
const usd = (nano: bigint): string =>
  `${nano / 1_000_000_000n}.${String(nano % 1_000_000_000n).padStart(9, "0")}`;

test("a model with one listed price: charge and cost, to the nano-dollar", async () => {
  const cost = listed(first);
  const found = await margin([used("m", cost * 2n)], [route("m", `my-${first.provider}`, first.model)]);
  expect(found).toMatchObject({
    charge_usd: usd(cost * 2n),
    known_charge_usd: usd(cost * 2n),
    list_cost_usd: { least: usd(cost), most: usd(cost) },
    margin_percent: { least: 50, most: 50 },
    variance_usd: "0.000000007",
    models: [{ model: "m", margin_percent: { least: 50, most: 50 }, unknown: null }],
  });
});

test("with price tiers or routes of different cost, the cost lies between the lowest and the highest", async () => {
  const [mine, theirs] = [`my-${first.provider}`, `my-${stepped.provider}`];
  const other = flat.find((one) => one.provider === first.provider && listed(one) > listed(first));
  const [step] = stepped.tiers;
  if (other === undefined || step === undefined) throw new Error("one price");
  const [low, high] = [listed(stepped), listed({ ...stepped, rates: step.rates })];
  expect(high).toBeGreaterThan(low);
  const found = await margin(
    [used("steps", high * 2n), used("two", listed(other) * 4n)],
    [route("steps", theirs, stepped.model), route("two", mine, first.model), route("two", mine, other.model)],
  );
  expect(found.models).toMatchObject([
    { model: "steps", list_cost_usd: { least: usd(low), most: usd(high) }, margin_percent: { least: 50 } },
    {
      model: "two",
      list_cost_usd: { least: usd(listed(first)), most: usd(listed(other)) },
      margin_percent: { least: 75 },
    },
  ]);
  expect(found.list_cost_usd).toEqual({
    least: usd(low + listed(first)),
    most: usd(high + listed(other)),
  });
  expect(found.margin_percent?.most).toBeGreaterThan(found.margin_percent?.least ?? 100);
});

test("a cost that would be a guess is shown as unknown, and is in no sum", async () => {
  const found = await margin(
    [used("gone", 4n), used("half", 2n), used("odd", 1n)],
    [
      route("half", `my-${first.provider}`, first.model),
      route("half", "another", first.model),
      route("odd", "another", first.model),
    ],
  );
  expect(found.models.map(({ model, unknown }) => [model, unknown])).toEqual([
    ["gone", "no_route"],
    ["half", "not_listed"],
    ["odd", "not_listed"],
  ]);
  expect(found).toMatchObject({ charge_usd: usd(7n), known_charge_usd: usd(0n), margin_percent: null });
});

test("a loss is a negative margin", async () => {
  const cost = listed(first);
  const found = await margin([used("m", cost / 2n)], [route("m", `my-${first.provider}`, first.model)]);
  expect(found.margin_percent).toEqual({ least: -100, most: -100 });
});
