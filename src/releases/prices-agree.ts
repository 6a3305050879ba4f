// Rules between the prices of a manifest (providers.md §4): tiers ascend and omit no class, calls have a
// price and a limit, and no factor raises a rate beyond what a row can hold.
import { NANO_PER_USD, parseUsd } from "../domain/money.ts";
import { type PublishedPrice, type PublishedRates, RATE_FIELDS, type RateField } from "../domain/price.ts";
import { serviceTierOf } from "../domain/token-classes.ts";

/** Nano-USD per 10⁶ tokens. */
export const RATE_MAX = 1_000_000n * NANO_PER_USD;

interface Priced {
  context_window: number;
  pricing: PublishedPrice;
}

/** [rule broken, path, sentence]. */
type Rule = [boolean, string, string];

/** The rules, each with whether it is broken, the invalid field, and what is wrong. */
export function pricesAgree({ context_window, pricing }: Priced): Rule[] {
  const { per_call, calls_max, tiers = [], service_tiers = {} } = pricing;
  const rising = tiers.map(({ above_prompt_tokens }) => above_prompt_tokens);
  const all = [pricing, ...tiers].flatMap((rates) => ratesOf(rates).map(([, rate]) => parseUsd(rate) ?? 0n));
  const dearest = all.reduce((a, b) => (a > b ? a : b), 0n);
  return [
    [
      per_call !== undefined && calls_max === undefined,
      "pricing.calls_max",
      "is required with per_call: the hold of a request covers this many calls",
    ],
    [
      calls_max !== undefined && per_call === undefined,
      "pricing.calls_max",
      "has no effect without per_call",
    ],
    ...tiers.flatMap((tier, place): Rule[] => [
      [
        place > 0 && tier.above_prompt_tokens <= (rising[place - 1] ?? 0),
        `pricing.tiers[${place}].above_prompt_tokens`,
        "must be above that of the tier before it",
      ],
      [
        tier.above_prompt_tokens >= context_window,
        `pricing.tiers[${place}].above_prompt_tokens`,
        "must be below context_window: no prompt reaches it",
      ],
      ...ratesOf(pricing).map(
        ([name]): Rule => [
          tier[name] === undefined,
          `pricing.tiers[${place}].${name}`,
          "is required, because pricing has it: a tier prices the whole request",
        ],
      ),
    ]),
    ...Object.entries(service_tiers).flatMap(([name, factor]): Rule[] => [
      [
        serviceTierOf(name) !== name,
        `pricing.service_tiers.${name}`,
        "must be named by a short lower-case word, as replies name it",
      ],
      [
        dearest * (parseUsd(factor) ?? 0n) > RATE_MAX * NANO_PER_USD,
        `pricing.service_tiers.${name}`,
        "results in a rate above 1000000 US dollars per million tokens",
      ],
    ]),
  ];
}

const ratesOf = (rates: PublishedRates): [RateField, string][] =>
  RATE_FIELDS.flatMap((name) => (rates[name] === undefined ? [] : [[name, rates[name]]]));
