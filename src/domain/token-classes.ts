// What kinds of tokens a call used, beside how many: a provider's word, read by its codec, priced by the release
// (providers.md §4). Each is null where the provider did not tell it.

/** The classes that have rates, in the order in which they are listed: those of the prompt and of the completion. */
export const PROMPT_CLASSES = [
  "input",
  "cached_input",
  "cache_write",
  "cache_write_1h",
  "audio_input",
  "image_input",
] as const;
export const COMPLETION_CLASSES = ["output", "audio_output"] as const;
export const TOKEN_CLASSES = [...PROMPT_CLASSES, ...COMPLETION_CLASSES] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

/** What stands in a class's place where a price has no rate for it; null for what every price has. */
export const STANDS_IN = {
  input: null,
  cached_input: "input",
  cache_write: "input",
  cache_write_1h: "cache_write",
  audio_input: "input",
  image_input: "input",
  output: null,
  audio_output: "output",
} as const satisfies Record<TokenClass, TokenClass | null>;

/** What a class costs: `own` is its rate, if it has one, and is asked for what stands in its place until there is one. */
export function rateInPlace<Rate>(name: TokenClass, own: (name: TokenClass) => Rate | undefined): Rate {
  for (let at: TokenClass | null = name; at !== null; at = STANDS_IN[at]) {
    const rate = own(at);
    if (rate !== undefined) return rate;
  }
  throw new Error(`a price has no rate for ${name}`);
}

export interface TokenClasses {
  /** Read from a cache; part of the prompt. */
  cachedTokens: number | null;
  /** Written to a cache, all lifetimes together; part of the prompt, none of it cached. */
  cacheWriteTokens: number | null;
  /** Of `cacheWriteTokens`: those that live for an hour. */
  cacheWrite1hTokens: number | null;
  /** Part of the prompt; who knows that a token was cached or written counts it there only. */
  audioInputTokens: number | null;
  imageInputTokens: number | null;
  /** Part of the completion. */
  reasoningTokens: number | null;
  audioOutputTokens: number | null;
  /** Paid calls on the provider's side, such as web searches. */
  calls: number | null;
  /** The tier of service that the reply names, as `serviceTierOf` reads it. */
  serviceTier: string | null;
}

/** Those beside cached and reasoning, as they are kept: a class of which nothing was told, or which is 0, is left out. */
export type KnownClasses = {
  [Name in Exclude<keyof TokenClasses, "cachedTokens" | "reasoningTokens">]?: NonNullable<TokenClasses[Name]>;
};

/** Those that are counted, by the names that records and receipts have for them. */
const WIRE_NAMES = {
  cacheWriteTokens: "cache_write_tokens",
  cacheWrite1hTokens: "cache_write_1h_tokens",
  audioInputTokens: "audio_input_tokens",
  imageInputTokens: "image_input_tokens",
  audioOutputTokens: "audio_output_tokens",
  calls: "calls",
} as const;
type CountedClass = keyof typeof WIRE_NAMES;
export const COUNTED_CLASSES = Object.keys(WIRE_NAMES) as CountedClass[];
export type WireCount = (typeof WIRE_NAMES)[CountedClass];
export const WIRE_COUNTS: readonly WireCount[] = Object.values(WIRE_NAMES);

/** Known classes under their wire names. */
export type WireClasses = { [Name in WireCount]?: number | undefined } & {
  service_tier?: string | undefined;
};

/** Classes that are not known are left out of the wire form. */
export function printClassCounts(known: KnownClasses): WireClasses {
  const wire: WireClasses = {};
  for (const name of COUNTED_CLASSES) {
    const count = known[name];
    if (count !== undefined) wire[WIRE_NAMES[name]] = count;
  }
  return known.serviceTier === undefined ? wire : { ...wire, service_tier: known.serviceTier };
}

/** The reverse of `printClassCounts`: a class that the wire form leaves out is not known. */
export function readClassCounts(wire: WireClasses): KnownClasses {
  const known: KnownClasses = {};
  for (const name of COUNTED_CLASSES) {
    const count = wire[WIRE_NAMES[name]];
    if (count !== undefined) known[name] = count;
  }
  return wire.service_tier === undefined ? known : { ...known, serviceTier: wire.service_tier };
}

/** Nothing but the totals was told. */
export const NO_CLASSES: Readonly<TokenClasses> = Object.freeze({
  cachedTokens: null,
  cacheWriteTokens: null,
  cacheWrite1hTokens: null,
  audioInputTokens: null,
  imageInputTokens: null,
  reasoningTokens: null,
  audioOutputTokens: null,
  calls: null,
  serviceTier: null,
});

const SERVICE_TIER = /^[a-z][a-z0-9_-]{0,31}$/;

/** A tier's name as a provider writes it; null for what is none: it may stand in a record and in a manifest. */
export function serviceTierOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value.toLowerCase();
  return SERVICE_TIER.test(name) ? name : null;
}
