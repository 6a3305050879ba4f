// Default limits that the configuration may set for every key and every organization. They apply where the key or organization
// has no limit of its own (`registry/rate-limits.ts`). The setting and the editor's schema are derived from the rows here. All
// are off unless set.
import { RATE_AT_MOST, type RateDefaults } from "../domain/rate-limits.ts";
import type { CamelCase } from "../lib/camel-case.ts";

interface Row {
  /** The setting accepts 1 to this value. */
  atMost: number;
  /** The setting's description in the editor's schema. */
  description: string;
}

const OFF = "null switches it off.";

export const CALLER_LIMITS = {
  key_requests_per_minute: { atMost: RATE_AT_MOST.requests_per_minute, description: OFF },
  key_tokens_per_minute: {
    atMost: RATE_AT_MOST.tokens_per_minute,
    description: `Reserved as quoted; what is not used is returned at the end. ${OFF}`,
  },
  key_concurrent: { atMost: RATE_AT_MOST.concurrent, description: OFF },
  organization_requests_per_minute: { atMost: RATE_AT_MOST.requests_per_minute, description: OFF },
  organization_tokens_per_minute: {
    atMost: RATE_AT_MOST.tokens_per_minute,
    description: `As key_tokens_per_minute; ${OFF}`,
  },
  organization_concurrent: { atMost: RATE_AT_MOST.concurrent, description: OFF },
} satisfies Record<string, Row>;

/** Null = off. */
export type CallerLimitSettings = Record<CamelCase<keyof typeof CALLER_LIMITS>, number | null>;

/** The default limits of each key and each organization under these settings. */
export const rateDefaultsOf = (settings: CallerLimitSettings): RateDefaults => ({
  key: {
    requestsPerMinute: settings.keyRequestsPerMinute,
    tokensPerMinute: settings.keyTokensPerMinute,
    concurrent: settings.keyConcurrent,
  },
  organization: {
    requestsPerMinute: settings.organizationRequestsPerMinute,
    tokensPerMinute: settings.organizationTokensPerMinute,
    concurrent: settings.organizationConcurrent,
  },
});
