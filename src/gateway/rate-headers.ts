// What is left of the limits per minute, in the form of the compatible API's clients and, if configured, that of the IETF's draft
// (wire.md §6).
import type { Refusal } from "../domain/refusals.ts";
import type { RateStanding } from "../ledger/ledger.ts";

const MINUTE_S = 60;

/** For requests and for tokens, the headers of the limit with the least left. Empty if nothing is limited. */
export function rateHeaders(
  rates: readonly RateStanding[] | undefined,
  { showRateLimit }: { showRateLimit: boolean },
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (rates === undefined || rates.length === 0) return headers;
  for (const of of ["requests", "tokens"] as const) {
    const [nearest] = rates.filter((rate) => rate.of === of).toSorted((a, b) => a.remaining - b.remaining);
    if (nearest === undefined) continue;
    headers[`x-ratelimit-limit-${of}`] = String(nearest.limit);
    headers[`x-ratelimit-remaining-${of}`] = String(nearest.remaining);
    headers[`x-ratelimit-reset-${of}`] = printDuration(nearest.resetMs);
  }
  return showRateLimit ? { ...headers, ...standardHeaders(rates) } : headers;
}

/** `RateLimit-Policy: "key-requests";q=20;w=60` and `RateLimit: "key-requests";r=19;t=3`, each for all limits. */
function standardHeaders(rates: readonly RateStanding[]): Record<string, string> {
  const named = (print: (rate: RateStanding) => string): string =>
    rates.map((rate) => `"${rate.subject.replace("_", "-")}-${rate.of}";${print(rate)}`).join(", ");
  return {
    "ratelimit-policy": named(({ limit }) => `q=${limit};w=${MINUTE_S}`),
    ratelimit: named(({ remaining, resetMs }) => `r=${remaining};t=${Math.ceil(resetMs / 1000)}`),
  };
}

/** `12ms`, `41s`, `6m0s`: the form that clients of the compatible API parse. */
function printDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

const MEASURED: Readonly<Record<string, string>> = {
  requests: "requests_per_minute",
  tokens: "tokens_per_minute",
  concurrent: "concurrent",
};

/** The limit's name as in the metric of refusals: `key_requests_per_minute`; null for other refusals. */
export function limitOf({ code, details }: Refusal): string | null {
  const measured = MEASURED[String(details?.["dimension"])];
  return code !== "rate_limit_exceeded" || measured === undefined
    ? null
    : `${details?.["subject"]}_${measured}`;
}
