// Two prices side by side, class by class (providers.md §4): what a customer pays before and after. If only one of them publishes a
// class, the other's price for it is the rate that stands in for it.
import { formatUsd, type NanoUsd, nanoUsd, parseUsd } from "./money.ts";
import { type PublishedPrice, publishedRate, rateField } from "./price.ts";
import { TOKEN_CLASSES, type TokenClass } from "./token-classes.ts";

/** Decimal strings without trailing zeros; null if there is no such price. */
export interface PriceLine {
  /** The name in a manifest; `service_tiers.flex` is a factor, `calls_max` a number. */
  price: string;
  /** Applies to prompts of more tokens than this; null for all others. */
  above_prompt_tokens: number | null;
  before: string | null;
  after: string | null;
  /** With a sign and one decimal, like `+20.0`; null if one of the prices is missing or the first is zero. */
  percent: string | null;
}

/** Every price that either of them publishes, in the order of a manifest; `before` is null for a new route. */
export function comparePrices(before: PublishedPrice | null, after: PublishedPrice): PriceLine[] {
  const sides = before === null ? [after] : [before, after];
  const published = TOKEN_CLASSES.filter((name) =>
    sides.some((side) => [side, ...(side.tiers ?? [])].some((rates) => rates[rateField(name)] !== undefined)),
  );
  const steps = new Set(sides.flatMap(({ tiers }) => tiers ?? []).map((tier) => tier.above_prompt_tokens));
  const rates = [null, ...[...steps].toSorted((a, b) => a - b)].flatMap((above) =>
    published.map((name) =>
      lineOf(rateField(name), above, [before && rateAt(before, name, above), rateAt(after, name, above)]),
    ),
  );
  const services = new Set(sides.flatMap(({ service_tiers }) => Object.keys(service_tiers ?? {})));
  const factor = (side: PublishedPrice, tier: string): string => side.service_tiers?.[tier] ?? "1";
  return [
    ...rates,
    lineOf("request_minimum", null, [before?.request_minimum, after.request_minimum]),
    ...(sides.some(({ per_call }) => per_call !== undefined)
      ? [
          lineOf("per_call", null, [before?.per_call, after.per_call]),
          lineOf("calls_max", null, [before?.calls_max?.toString(), after.calls_max?.toString()]),
        ]
      : []),
    ...[...services].map((tier) =>
      lineOf(`service_tiers.${tier}`, null, [before && factor(before, tier), factor(after, tier)]),
    ),
  ];
}

export const differs = ({ before, after }: PriceLine): boolean => before !== after;

/** The rate of a class in prompts of more than `above` tokens. */
function rateAt(price: PublishedPrice, name: TokenClass, above: number | null): string {
  const reached = (price.tiers ?? []).filter((tier) => above !== null && tier.above_prompt_tokens <= above);
  return publishedRate(reached.at(-1) ?? price, name);
}

type Sides = readonly [string | null | undefined, string | null | undefined];

function lineOf(price: string, above: number | null, [before, after]: Sides): PriceLine {
  const [old, next] = [amountOf(before), amountOf(after)];
  return {
    price,
    above_prompt_tokens: above,
    before: old === null ? null : short(old),
    after: next === null ? null : short(next),
    percent: old === null || next === null ? null : percentChange(old, next),
  };
}

const amountOf = (text: string | null | undefined): NanoUsd | null =>
  text === null || text === undefined ? null : parseUsd(text);

const short = (amount: NanoUsd): string => formatUsd(amount).replace(/\.?0+$/, "");

/** Of integers, rounded to the nearest tenth of a percent; null if the first is zero. */
export function percentChange(before: NanoUsd, after: NanoUsd): string | null {
  if (before === 0n) return null;
  const change = after - before;
  const tenths = ((change < 0n ? -change : change) * 2000n + before) / (before * 2n);
  const text = `${tenths / 10n}.${tenths % 10n}`;
  return change === 0n ? "0.0" : `${change < 0n ? "-" : "+"}${text}`;
}

/** The ratio of a price to its cost, cut to four decimals; null if the cost is zero. */
export function ratioOf(price: string, cost: string): string | null {
  const [of, over] = [amountOf(price), amountOf(cost)];
  if (of === null || over === null || over === 0n) return null;
  return short(nanoUsd(((of * 10_000n) / over) * 100_000n));
}
