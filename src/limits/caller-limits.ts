// What an operator may set for every key and every organization in the configuration: what holds where nothing is set for the
// one (`registry/rate-limits.ts`). The setting and the editor's schema follow from its row here. All are off unless they are set.
import { RATE_AT_MOST, type RateDefaults } from "../domain/rate-limits.ts";
import type { CamelCase } from "../lib/camel-case.ts";

interface Row {
  /** The setting takes 1 to this many. */
  atMost: number;
  /** Of the setting, for the editor's schema. */
  description: string;
}

const OFF = "null switches it off.";

export const CALLER_LIMITS = {
  key_requests_per_minute: { atMost: RATE_AT_MOST.requests_per_minute, description: OFF },
  key_tokens_per_minute: {
    atMost: RATE_AT_MOST.tokens_per_minute,
    description: `Reserved as quoted, given back at the end; ${OFF}`,
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

/** What holds for each key and each organization by these settings. */
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
