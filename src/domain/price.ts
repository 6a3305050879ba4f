// What a release costs: as it is published, in exact decimal strings, and as it is priced by (providers.md §4). A class
// without a rate of its own costs what stands in its place.
import { type NanoUsd, nanoUsd, parseUsd } from "./money.ts";

/** US dollars per million tokens, as published. In brackets what stands in a class's place. */
export interface PublishedRates {
  input_per_million: string;
  /** [input] */
  cached_input_per_million?: string | undefined;
  /** [input] */
  cache_write_per_million?: string | undefined;
  /** [cache_write] */
  cache_write_1h_per_million?: string | undefined;
  /** [input] */
  audio_input_per_million?: string | undefined;
  /** [input] */
  image_input_per_million?: string | undefined;
  output_per_million: string;
  /** [output] */
  audio_output_per_million?: string | undefined;
}

/** Prices the whole request where its prompt has more tokens. */
interface PublishedTier extends PublishedRates {
  above_prompt_tokens: number;
}

export interface PublishedPrice extends PublishedRates {
  request_minimum: string;
  /** US dollars per 1,000 paid calls on the provider's side, of which a request pays `calls_max` at most. */
  per_call?: string | undefined;
  calls_max?: number | undefined;
  /** By rising `above_prompt_tokens`. */
  tiers?: PublishedTier[] | undefined;
  /** A factor on every rate, by the word with which a reply names its tier of service; any other word is 1. */
  service_tiers?: Record<string, string> | undefined;
}

/** Nano-USD per 10⁶ tokens, exact. */
export interface Rates {
  input: NanoUsd;
  /** Equals `input` where no cached rate is published. */
  cachedInput: NanoUsd;
  cacheWrite?: NanoUsd;
  cacheWrite1h?: NanoUsd;
  audioInput?: NanoUsd;
  imageInput?: NanoUsd;
  output: NanoUsd;
  audioOutput?: NanoUsd;
}

export interface Price extends Rates {
  requestMinimum: NanoUsd;
  /** Nano-USD per 1,000 calls. */
  perThousandCalls?: NanoUsd;
  callsMax?: number;
  tiers?: readonly (Rates & { abovePromptTokens: number })[];
  /** In 10⁻⁹. */
  serviceTiers?: Readonly<Record<string, bigint>>;
}

/** What published prices are in figures. Throws for what is no price: whoever parsed them let it pass. */
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
  const input = exact(published.input_per_million);
  const { cached_input_per_million: cached } = published;
  return {
    input,
    cachedInput: cached === undefined ? input : exact(cached),
    output: exact(published.output_per_million),
    ...optional("cacheWrite", published.cache_write_per_million),
    ...optional("cacheWrite1h", published.cache_write_1h_per_million),
    ...optional("audioInput", published.audio_input_per_million),
    ...optional("imageInput", published.image_input_per_million),
    ...optional("audioOutput", published.audio_output_per_million),
  };
}

const optional = <Name extends string>(
  name: Name,
  text: string | undefined,
): Partial<Record<Name, NanoUsd>> =>
  text === undefined ? {} : ({ [name]: exact(text) } as Record<Name, NanoUsd>);

function exact(text: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount === null) throw new Error(`"${text}" is no price`);
  return nanoUsd(amount);
}

const FIRST_FIELDS: ReadonlySet<string> = new Set([
  "input_per_million",
  "cached_input_per_million",
  "output_per_million",
  "request_minimum",
]);

/** Whether it publishes more than input, cached input, output and a minimum, which is all that older programs know. */
export const hasClasses = (published: PublishedPrice): boolean =>
  Object.keys(published).some((field) => !FIRST_FIELDS.has(field));
