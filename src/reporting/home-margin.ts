// The margin over 30 days: charges compared with the providers' list prices for the same tokens, where known.
// List prices come from the table shipped with this program; prices negotiated with a provider are unknown
// here. Token sums do not show which price tier or which of several routes each request used: the cost lies
// between the lowest and the highest of them, so a range is reported, not an estimate.
import { HOUR_MS } from "../domain/durations.ts";
import type { z } from "zod";
import type * as homeShapes from "../api/shapes/home.ts";
import { formatUsd, nanoUsd, parseUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import { openedOnce } from "../lib/opened-once.ts";
import { printDecimal } from "../releases/catalogue/decimal.ts";
import type { TableEntry } from "../releases/catalogue/entry.ts";
import { openTable, type PriceTable } from "../releases/catalogue/table.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, magnitude, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { hoursUsedByAll, tokensUsed } from "./hours-used.ts";
import { varianceByRelease } from "./variance.ts";

type Margin = z.output<typeof homeShapes.homeMargin>;
type Unknown = Margin["models"][number]["unknown"];

interface MarginPorts {
  sql: Sql;
  clock: Clock;
  standings(): RouteStanding[];
  providers: readonly { name: string; kind: string }[];
}

const DAYS = 30;
const MODELS_SHOWN = 10;
const MILLION = 1_000_000n;

/** Nano-USD per million tokens. */
type ListPrice = Record<"input" | "cached" | "written" | "output", bigint>;

interface Between<One> {
  least: One;
  most: One;
}

interface Used {
  model: string;
  charge: bigint;
  input: bigint;
  cached: bigint;
  written: bigint;
  output: bigint;
}

/** The price table shipped with the program. */
const ownTable = openedOnce((nowMs: number) => openTable(undefined, nowMs));

/**
 * Models without a list price are listed with the reason, and excluded from the sums: the margin covers the
 * others.
 */
export async function marginOf(on: MarginPorts): Promise<Margin> {
  const nowMs = on.clock.nowMs();
  const firstHour = Math.floor(nowMs / HOUR_MS) - DAYS * 24 + 1;
  const table = await ownTable(nowMs);
  const models = (await usedSince(on.sql, firstHour)).map((used) => {
    const price = priceOf(on, table, used.model);
    return {
      used,
      ...(typeof price === "string"
        ? { cost: null, unknown: price }
        : { cost: { least: costOf(used, price.least), most: costOf(used, price.most) }, unknown: null }),
    };
  });
  const known = models.flatMap(({ used, cost }) => (cost === null ? [] : [{ charge: used.charge, cost }]));
  const charged = sum(known.map(({ charge }) => charge));
  const cost = {
    least: sum(known.map((one) => one.cost.least)),
    most: sum(known.map((one) => one.cost.most)),
  };
  return {
    from: printTime(firstHour * HOUR_MS),
    to: printTime(nowMs),
    charge_usd: usd(sum(models.map(({ used }) => used.charge))),
    variance_usd: usd(sum([...(await varianceByRelease(on.sql, firstHour * HOUR_MS)).values()])),
    known_charge_usd: usd(charged),
    list_cost_usd: printed(cost),
    margin_percent: marginBetween(charged, cost),
    source: `${table.source}, ${table.date}`,
    models: models.slice(0, MODELS_SHOWN).map((one) => ({
      model: one.used.model,
      charge_usd: usd(one.used.charge),
      list_cost_usd: one.cost === null ? null : printed(one.cost),
      margin_percent: one.cost === null ? null : marginBetween(one.used.charge, one.cost),
      unknown: one.unknown,
    })),
  };
}

const usd = (amount: bigint): string => formatUsd(nanoUsd(amount));
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, one) => total + one, 0n);
const printed = ({ least, most }: Between<bigint>): Between<string> => ({
  least: usd(least),
  most: usd(most),
});

/** Null if nothing was charged. The highest cost leaves the least margin. */
const marginBetween = (charge: bigint, cost: Between<bigint>): Between<number> | null =>
  charge <= 0n ? null : { least: percentOf(charge, cost.most), most: percentOf(charge, cost.least) };

/** As a percentage of the charge, with one decimal. */
const percentOf = (charge: bigint, cost: bigint): number => Number(((charge - cost) * 1000n) / charge) / 10;

/** The most expensive first. */
async function usedSince(sql: Sql, firstHour: number): Promise<Used[]> {
  const query = hoursUsedByAll(sql, { first: firstHour })
    .groupBy("model")
    .select((eb) => ["model", exactTotal(eb.ref("charge")).as("charge"), ...tokensUsed(eb)])
    .orderBy((eb) => magnitude(eb.ref("charge")), "desc")
    .orderBy("model");
  return (await rowsOf(sql, query)).map(({ model, ...row }) => ({
    model,
    charge: exact(row.charge),
    input: exact(row.input),
    cached: exact(row.cached),
    written: exact(row.written),
    output: exact(row.output),
  }));
}

/** Tokens read from or written to a cache are included in the input. */
const costOf = ({ input, cached, written, output }: Used, price: ListPrice): bigint => {
  const fresh = input - cached - written;
  const nano =
    (fresh > 0n ? fresh : 0n) * price.input +
    cached * price.cached +
    written * price.written +
    output * price.output;
  return nano / MILLION;
};

/** Over all routes that serve the model today, rate by rate: the lowest and the highest list price. */
function priceOf(
  { standings, providers }: Pick<MarginPorts, "standings" | "providers">,
  table: PriceTable,
  model: string,
): Between<ListPrice> | NonNullable<Unknown> {
  const kinds = new Map(providers.map(({ name, kind }) => [name, kind]));
  const routes = standings().filter(({ release }) => release.model === model);
  const prices = routes.flatMap(({ release }) => {
    const kind = kinds.get(release.provider);
    const entry = table.entries.find((one) => one.provider === kind && one.model === release.upstreamModel);
    return entry === undefined ? [null] : listPrices(entry);
  });
  const listed = prices.filter((price) => price !== null);
  const [first] = listed;
  if (routes.length === 0) return "no_route";
  if (first === undefined || listed.length < prices.length) return "not_listed";
  const of = (rate: keyof ListPrice): bigint[] => listed.map((price) => price[rate]);
  const by = (choose: (amounts: bigint[]) => bigint): ListPrice => ({
    input: choose(of("input")),
    cached: choose(of("cached")),
    written: choose(of("written")),
    output: choose(of("output")),
  });
  return {
    least: by((amounts) => amounts.reduce((least, one) => (one < least ? one : least))),
    most: by((amounts) => amounts.reduce((most, one) => (one > most ? one : most))),
  };
}

/** The base prices, and one more set per tier; null if a rate is missing. */
const listPrices = ({ rates, tiers }: TableEntry): (ListPrice | null)[] =>
  [rates, ...tiers.map((tier) => ({ ...rates, ...tier.rates }))].map((step) => {
    const nano = (rate: TableEntry["rates"]["input_per_million"]): bigint | null =>
      rate === undefined ? null : parseUsd(printDecimal(rate));
    const input = nano(step.input_per_million);
    const output = nano(step.output_per_million);
    if (input === null || output === null) return null;
    return {
      input,
      output,
      cached: nano(step.cached_input_per_million) ?? input,
      written: nano(step.cache_write_per_million) ?? input,
    };
  });
