// Compares a price table with what an installation sells, route by route: each price now and with a markup,
// today's markup, and models that the table no longer has. What the table does not state is not changed.
import type { ReleaseListJson } from "../../api/shapes/records.ts";
import { comparePrices, differs, type PriceLine, ratioOf } from "../../domain/price-comparison.ts";
import { type PublishedPrice, RATE_FIELDS, type RateField } from "../../domain/price.ts";
import type { Decimal } from "./decimal.ts";
import type { TableEntry } from "./entry.ts";
import { callsPrice, pricingOf } from "./proposal.ts";
import type { PriceTable } from "./table.ts";

type Listed = ReleaseListJson["data"][number];
/** A release that is not damaged. */
export type LiveRelease = Pick<Listed, "reasoning"> & {
  [Field in Exclude<keyof Listed, "reasoning">]: NonNullable<Listed[Field]>;
};

/** True if its stored manifest has a readable price; a damaged one has none. */
export const isReadable = (release: Listed): release is LiveRelease => release.price !== null;

/** A price with its current ratio to the table's. */
export type MarkedLine = PriceLine & { markup: string | null };

export interface RouteDifference {
  route: string;
  model: string;
  version: number;
  state: LiveRelease["state"];
  /**
   * `changed`: a price differs. `vanished`: the table has this provider, but no longer this model.
   * `ambiguous`: several providers of the table have it. `unlisted`: a model that this table need not
   * contain.
   */
  status: "same" | "changed" | "vanished" | "ambiguous" | "unlisted";
  /** Its place in the table; for an ambiguous one, all places. */
  listed_as: string[];
  prices: MarkedLine[];
  /** Windows and capabilities, for information: the operator chooses them. */
  offers: { field: string; before: string; after: string }[];
}

export interface DifferenceTerms {
  markup: Decimal;
  /** The table's provider names by their names in the configuration. */
  providers: ReadonlyMap<string, string>;
}

/** In the order of the routes. */
export function differences(
  table: PriceTable,
  live: readonly LiveRelease[],
  terms: DifferenceTerms,
): RouteDifference[] {
  const byModel = Map.groupBy(table.entries, ({ model }) => model);
  const known = new Set(table.entries.map(({ provider }) => provider));
  return live
    .toSorted((a, b) => (a.route < b.route ? -1 : 1))
    .map((release) => {
      const provider = terms.providers.get(release.provider) ?? release.provider;
      const sold = byModel.get(release.upstream_model) ?? [];
      const found = known.has(provider) ? sold.filter((entry) => entry.provider === provider) : sold;
      const [entry, ...others] = found;
      const about = { ...headOf(release), listed_as: found.map(({ listedAs }) => listedAs) };
      if (entry !== undefined && others.length === 0)
        return { ...about, ...against(release, entry, terms.markup) };
      const gone = table.complete && known.has(provider) ? "vanished" : "unlisted";
      return { ...about, status: others.length > 0 ? "ambiguous" : gone, prices: [], offers: [] };
    });
}

const headOf = ({ route, model, version, state }: LiveRelease) => ({ route, model, version, state });

function against(
  live: LiveRelease,
  entry: TableEntry,
  markup: Decimal,
): Pick<RouteDifference, "status" | "prices" | "offers"> {
  const cost = withRest(live.price, { ...pricingOf(entry, ONE), per_call: callsPrice(entry, ONE) });
  const next = withRest(live.price, { ...pricingOf(entry, markup), per_call: callsPrice(entry, markup) });
  const costs = comparePrices(live.price, cost);
  const prices = comparePrices(live.price, next).map((line, at) => {
    const made = line.price.endsWith("_per_million") || line.price === "per_call" ? costs[at]?.after : null;
    return { ...line, markup: made && line.before ? ratioOf(line.before, made) : null };
  });
  return { status: prices.some(differs) ? "changed" : "same", prices, offers: offersOf(live, entry) };
}

const ONE: Decimal = { digits: 1n, scale: 0 };

/** The table's prices, and the live prices of whatever the table does not state. */
function withRest(live: PublishedPrice, table: PublishedPrice): PublishedPrice {
  const { tiers, service_tiers, per_call } = table;
  const unknown = RATE_FIELDS.filter((field) => table[field] === undefined && live[field] !== undefined);
  const rest = (from: PublishedPrice | Tier): Partial<Record<RateField, string>> =>
    Object.fromEntries(unknown.map((field) => [field, from[field] ?? live[field]]));
  const calls = live.per_call === undefined ? undefined : (per_call ?? live.per_call);
  return {
    ...rest(live),
    ...ratesOf(table),
    request_minimum: live.request_minimum,
    tiers: tiers?.map((tier) => {
      const same = live.tiers?.find((one) => one.above_prompt_tokens === tier.above_prompt_tokens);
      return { ...rest(same ?? live), ...tier };
    }),
    service_tiers: service_tiers ?? live.service_tiers,
    per_call: calls,
    calls_max: live.calls_max,
  };
}

type Tier = NonNullable<PublishedPrice["tiers"]>[number];

const ratesOf = (price: PublishedPrice) => ({
  ...(Object.fromEntries(
    RATE_FIELDS.flatMap((field) => (price[field] ? [[field, price[field]]] : [])),
  ) as object),
  input_per_million: price.input_per_million,
  output_per_million: price.output_per_million,
});

function offersOf(live: LiveRelease, entry: TableEntry): RouteDifference["offers"] {
  const pairs: [string, unknown, unknown][] = [
    ["context_window", live.context_window, entry.contextWindow],
    ["max_output_tokens", live.max_output_tokens, entry.maxOutputTokens],
    ["capabilities.tools", live.capabilities["tools"], entry.tools],
    ["capabilities.images", live.capabilities["images"], entry.images],
    ...(entry.files === null
      ? []
      : [
          ["capabilities.files", live.capabilities["files"] ?? false, entry.files] as [
            string,
            unknown,
            unknown,
          ],
        ]),
    ["capabilities.json_schema", live.capabilities["json_schema"], entry.jsonSchema],
    ...(entry.reasoning === null
      ? []
      : [
          [
            "reasoning.modes",
            live.reasoning?.modes.join(", ") ?? "none",
            entry.reasoning.modes.join(", "),
          ] as [string, unknown, unknown],
        ]),
  ];
  return pairs
    .map(([field, before, after]) => ({ field, before: String(before), after: String(after) }))
    .filter(({ before, after }) => before !== after);
}
