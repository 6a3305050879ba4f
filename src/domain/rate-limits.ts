// Limits of a rate: requests and tokens per minute, and requests that run at once, of an organization, of a key, of a model
// within an organization, of a key and a model (operate.md §1). Words and figures that the ledger, the API and the pages share.

export const RATE_DIMENSIONS = ["requests_per_minute", "tokens_per_minute", "concurrent"] as const;
export type RateDimension = (typeof RATE_DIMENSIONS)[number];

/** Whole numbers from 1; null: none. */
export interface RateLimits {
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  concurrent: number | null;
}

export const NO_RATE_LIMITS: RateLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrent: null,
};

/** What a limit may be set to at most. */
export const RATE_AT_MOST: Readonly<Record<RateDimension, number>> = {
  requests_per_minute: 10_000_000,
  tokens_per_minute: 1_000_000_000,
  concurrent: 1_000_000,
};

/** Of every organization and of every key for which nothing else is set: the configuration's. */
export interface RateDefaults {
  organization: RateLimits;
  key: RateLimits;
}

export const NO_RATE_DEFAULTS: RateDefaults = { organization: NO_RATE_LIMITS, key: NO_RATE_LIMITS };

/** What a limit stands on. Empty: of all keys, of all models; without an organization, but with a model: of each of them. */
export interface RatePlace {
  organizationId: string;
  keyId: string;
  model: string;
}

/** Whose requests are counted together. */
export type RateSubject = "organization" | "key" | "model" | "key_model";

/** The lower one of each; null gives way. */
export const tighter = (a: RateLimits, b: RateLimits): RateLimits => ({
  requestsPerMinute: lower(a.requestsPerMinute, b.requestsPerMinute),
  tokensPerMinute: lower(a.tokensPerMinute, b.tokensPerMinute),
  concurrent: lower(a.concurrent, b.concurrent),
});

const lower = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

/** Whether any of them is set. */
export const limitsAnything = ({ requestsPerMinute, tokensPerMinute, concurrent }: RateLimits): boolean =>
  requestsPerMinute !== null || tokensPerMinute !== null || concurrent !== null;
