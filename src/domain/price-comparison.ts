// Two prices side by side, class by class (providers.md §4): what a customer pays before and after, also where a class is
// published by one of them only and costs in the other what stands in its place.
import { formatUsd, type NanoUsd, nanoUsd, parseUsd } from "./money.ts";
import { type PublishedPrice, publishedRate, rateField } from "./price.ts";
import { TOKEN_CLASSES, type TokenClass } from "./token-classes.ts";

/** Decimal strings without trailing zeros; null where there is no such price. */
export interface PriceLine {
  /** As a manifest names it; `service_tiers.flex` is a factor, `calls_max` a number. */
  price: string;
  /** For prompts of more tokens than this; null for all others. */
  above_prompt_tokens: number | null;
  before: string | null;
  after: string | null;
  /** With a sign and one decimal, like `+20.0`; null where one of them is not there, or nothing came before. */
  percent: string | null;
}

/** Every price that one of them publishes, in the order of a manifest; `before` null for a new route. */
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

/** What a class costs in prompts of more than so many tokens. */
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

/** Of whole numbers, rounded to the nearest tenth of a percent; null where nothing cost nothing before. */
export function percentChange(before: NanoUsd, after: NanoUsd): string | null {
  if (before === 0n) return null;
  const change = after - before;
  const tenths = ((change < 0n ? -change : change) * 2000n + before) / (before * 2n);
  const text = `${tenths / 10n}.${tenths % 10n}`;
  return change === 0n ? "0.0" : `${change < 0n ? "-" : "+"}${text}`;
}

/** How many times the one is of the other, cut to four decimals: a price over what it was made of; null over nothing. */
export function ratioOf(price: string, cost: string): string | null {
  const [of, over] = [amountOf(price), amountOf(cost)];
  if (of === null || over === null || over === 0n) return null;
  return short(nanoUsd(((of * 10_000n) / over) * 100_000n));
}
