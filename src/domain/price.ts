// What a release costs: as published, in exact decimal strings, and in the form used for pricing (providers.md §4). A class without
// a rate of its own is charged at the rate that stands in for it.
import { type NanoUsd, nanoUsd, parseUsd } from "./money.ts";
import { rateInPlace, STANDS_IN, TOKEN_CLASSES, type TokenClass } from "./token-classes.ts";

/** Rate field by the name of the class. */
export type RateField = `${TokenClass}_per_million`;
export const rateField = (name: TokenClass): RateField => `${name}_per_million`;
/** In the order of a manifest. */
export const RATE_FIELDS: readonly RateField[] = TOKEN_CLASSES.map(rateField);

/** The rates that every price has, because nothing stands in for them. */
export type WholeField = {
  [Name in TokenClass]: (typeof STANDS_IN)[Name] extends null ? `${Name}_per_million` : never;
}[TokenClass];

const STAND_INS: ReadonlyMap<RateField, RateField | null> = new Map(
  TOKEN_CLASSES.map((name) => {
    const standIn = STANDS_IN[name];
    return [rateField(name), standIn === null ? null : rateField(standIn)];
  }),
);
/** The rate that applies if a price leaves this field out. */
export const standInOf = (field: RateField): RateField | null => STAND_INS.get(field) ?? null;

/** US dollars per million tokens, as published. */
export type PublishedRates = Record<WholeField, string> &
  Partial<Record<Exclude<RateField, WholeField>, string | undefined>>;

/** Prices the whole request if its prompt has more tokens. */
interface PublishedTier extends PublishedRates {
  above_prompt_tokens: number;
}

/** As in the signed manifest: decimal texts of US dollars, rates per million tokens (providers.md §4). */
export interface PublishedPrice extends PublishedRates {
  request_minimum: string;
  /** US dollars per 1,000 paid calls on the provider's side; a request pays for at most `calls_max` of them. */
  per_call?: string | undefined;
  calls_max?: number | undefined;
  /** In ascending order of `above_prompt_tokens`. */
  tiers?: PublishedTier[] | undefined;
  /** A factor on every rate, by the name of the service tier in a reply; any other name counts as 1. */
  service_tiers?: Record<string, string> | undefined;
}

/** Nano-USD per 10⁶ tokens, exact. */
export interface Rates {
  input: NanoUsd;
  /** Equals `input` if no cached rate is published. */
  cachedInput: NanoUsd;
  cacheWrite?: NanoUsd;
  cacheWrite1h?: NanoUsd;
  audioInput?: NanoUsd;
  imageInput?: NanoUsd;
  output: NanoUsd;
  audioOutput?: NanoUsd;
}

/** The rate's name for each class. */
export const RATE_NAMES = {
  input: "input",
  cached_input: "cachedInput",
  cache_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
  audio_input: "audioInput",
  image_input: "imageInput",
  output: "output",
  audio_output: "audioOutput",
} as const satisfies Record<TokenClass, keyof Rates>;

/** The form that charges are computed with: integers only. Rates are nano-USD per million tokens; `requestMinimum` is nano-USD. */
export interface Price extends Rates {
  requestMinimum: NanoUsd;
  /** Nano-USD per 1,000 calls. */
  perThousandCalls?: NanoUsd;
  callsMax?: number;
  tiers?: readonly (Rates & { abovePromptTokens: number })[];
  /** In units of 10⁻⁹. */
  serviceTiers?: Readonly<Record<string, bigint>>;
}

/** Converts a published price to figures. Throws for a malformed price, which its parser should have refused. */
export function exactPrice(published: PublishedPrice): Price {
  const { per_call, calls_max, tiers, service_tiers, request_minimum } = published;
  return {
    ...ratesOf(published),
    requestMinimum: exact(request_minimum),
    ...(per_call !== undefined && { perThousandCalls: exact(per_call) }),
    ...(calls_max !== undefined && { callsMax: calls_max }),
    ...(tiers !== undefined && {
      tiers: tiers.map((tier) => ({ abovePromptTokens: tier.above_prompt_tokens, ...ratesOf(tier) })),
    }),
    ...(service_tiers !== undefined && {
      serviceTiers: Object.fromEntries(
        Object.entries(service_tiers).map(([name, factor]) => [name, exact(factor)]),
      ),
    }),
  };
}

function ratesOf(published: PublishedRates): Rates {
  const rates: Partial<Record<keyof Rates, NanoUsd>> = {
    cachedInput: exact(publishedRate(published, "cached_input")),
  };
  for (const name of TOKEN_CLASSES) {
    const own = published[rateField(name)];
    if (own !== undefined) rates[RATE_NAMES[name]] = exact(own);
  }
  return rates as Rates;
}

/** The rate of a class: its own, or the one that stands in for it. */
export const publishedRate = (published: PublishedRates, name: TokenClass): string =>
  rateInPlace(name, (at) => published[rateField(at)]);

function exact(text: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount === null) throw new Error(`"${text}" is not a price`);
  return nanoUsd(amount);
}

const FIRST_FIELDS: ReadonlySet<string> = new Set([
  "input_per_million",
  "cached_input_per_million",
  "output_per_million",
  "request_minimum",
]);

/** Whether the price publishes more than input, cached input, output and a minimum, which is all that older programs know. */
export const hasClasses = (published: PublishedPrice): boolean =>
  Object.keys(published).some((field) => !FIRST_FIELDS.has(field));
