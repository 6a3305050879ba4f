// The kinds of tokens that a call used, in addition to the totals: reported by a provider, read by its codec, priced by the release
// (providers.md §4). Each is null if the provider did not report it.

/** The classes that have rates, in listing order: those of the prompt and of the completion. */
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

/** The class whose rate stands in if a price has no rate for this one; null for classes that every price has. */
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

/** Returns the rate of a class. `own` returns a class's own rate; it is asked along the stand-ins until one has a rate. */
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
  /** Written to a cache, all lifetimes together; part of the prompt and not of the cached tokens. */
  cacheWriteTokens: number | null;
  /** The part of `cacheWriteTokens` that lives for an hour. */
  cacheWrite1hTokens: number | null;
  /** Part of the prompt; a token known to be cached or written is counted only there. */
  audioInputTokens: number | null;
  imageInputTokens: number | null;
  /** Part of the completion. */
  reasoningTokens: number | null;
  audioOutputTokens: number | null;
  /** Paid calls on the provider's side, such as web searches. */
  calls: number | null;
  /** The service tier named in the reply, as `serviceTierOf` reads it. */
  serviceTier: string | null;
}

/** The classes other than cached and reasoning, as stored: a class that was not reported, or is 0, is left out. */
export type KnownClasses = {
  [Name in Exclude<keyof TokenClasses, "cachedTokens" | "reasoningTokens">]?: NonNullable<TokenClasses[Name]>;
};

/** The counted classes, by their names in records and receipts. */
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

/** Prints class counts in wire form, without classes that are not known. */
export function printClassCounts(known: KnownClasses): WireClasses {
  const wire: WireClasses = {};
  for (const name of COUNTED_CLASSES) {
    const count = known[name];
    if (count !== undefined) wire[WIRE_NAMES[name]] = count;
  }
  return known.serviceTier === undefined ? wire : { ...wire, service_tier: known.serviceTier };
}

/** The reverse of `printClassCounts`: a class missing from the wire form is not known. */
export function readClassCounts(wire: WireClasses): KnownClasses {
  const known: KnownClasses = {};
  for (const name of COUNTED_CLASSES) {
    const count = wire[WIRE_NAMES[name]];
    if (count !== undefined) known[name] = count;
  }
  return wire.service_tier === undefined ? known : { ...known, serviceTier: wire.service_tier };
}

/** Nothing but the totals was reported. */
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

/** A tier's name as a provider writes it; null if it is not fit for a record and a manifest. */
export function serviceTierOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value.toLowerCase();
  return SERVICE_TIER.test(name) ? name : null;
}
