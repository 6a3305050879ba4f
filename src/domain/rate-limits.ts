// Rate limits: requests and tokens per minute, and concurrent requests, of an organization, of a key, of a model within an
// organization, of a key and a model (operate.md §1). Terms and bounds that the ledger, the API and the pages share.

export const RATE_DIMENSIONS = ["requests_per_minute", "tokens_per_minute", "concurrent"] as const;
export type RateDimension = (typeof RATE_DIMENSIONS)[number];

/** Integers from 1; null: no limit. */
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

/** The maximum that each limit may be set to. */
export const RATE_AT_MOST: Readonly<Record<RateDimension, number>> = {
  requests_per_minute: 10_000_000,
  tokens_per_minute: 1_000_000_000,
  concurrent: 1_000_000,
};

/** The configuration's defaults, for every organization and key without limits of its own. */
export interface RateDefaults {
  organization: RateLimits;
  key: RateLimits;
}

export const NO_RATE_DEFAULTS: RateDefaults = { organization: NO_RATE_LIMITS, key: NO_RATE_LIMITS };

/**
 * What a limit applies to. Empty members mean all keys or all models; a model without an organization means that model in each
 * organization.
 */
export interface RatePlace {
  organizationId: string;
  keyId: string;
  model: string;
}

/** Which requests are counted together. */
export type RateSubject = "organization" | "key" | "model" | "key_model";

/** How a sentence about a limit begins. */
export const WHOSE: Readonly<Record<RateSubject, string>> = {
  organization: "This organization",
  key: "This key",
  model: "This organization, for this model,",
  key_model: "This key, for this model,",
};

/** The lower of each pair; null counts as unlimited. */
export const tighter = (a: RateLimits, b: RateLimits): RateLimits => ({
  requestsPerMinute: lower(a.requestsPerMinute, b.requestsPerMinute),
  tokensPerMinute: lower(a.tokensPerMinute, b.tokensPerMinute),
  concurrent: lower(a.concurrent, b.concurrent),
});

const lower = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

/** Whether any limit is set. */
export const limitsAnything = ({ requestsPerMinute, tokensPerMinute, concurrent }: RateLimits): boolean =>
  requestsPerMinute !== null || tokensPerMinute !== null || concurrent !== null;
