// Tells a caller which limit blocks its request: whose it is, of what, how much, and when the request fits (wire.md §4).
import { counted } from "../../domain/counted.ts";
import { WHOSE } from "../../domain/rate-limits.ts";
import { Refusal } from "../../domain/refusals.ts";
import { costUs, remainingAt, resetMs, waitMs } from "../../limits/gcra.ts";
import type { Shortage } from "../ledger.ts";
import type { Limited } from "../rows.ts";

/** `short` is set if only token limits refuse, so that fewer tokens might pass. */
export interface Blocked {
  refusal: Refusal;
  short?: Shortage;
}

/** What a request may use. `bounded`: an exact count of its prompt may need fewer; default: no. */
export interface AskedTokens {
  tokens: number;
  bounded?: boolean;
}

/** A limit that is reached. `waitMs` is null if waiting does not help. */
interface Reached {
  at: Limited;
  of: "requests" | "tokens" | "concurrent";
  limit: number;
  remaining: number;
  waitMs: number | null;
}

/** The retry interval for a concurrency limit: nobody knows when a running request ends. */
const SHORTLY_MS = 1000;

/** Returns the limit with the longest wait for what a request may use; null if it fits under all of them. */
export function blockedBy(limited: readonly Limited[], asked: AskedTokens, nowUs: number): Blocked | null {
  const all: Reached[] = [];
  for (const at of limited) if (!isFree(at, asked.tokens, nowUs)) all.push(...reachedIn(at, asked, nowUs));
  if (all.length === 0) return null;
  const onlyTokens = all.every(({ of }) => of === "tokens");
  // What only a bound says of ever is not said beside what is certain.
  const certain = asked.bounded && !onlyTokens ? all.filter(({ waitMs: wait }) => wait !== null) : all;
  const longest = certain.reduce((most, one) => (waitOf(one) > waitOf(most) ? one : most));
  const limits = all.map(({ at: { subject }, limit, remaining }) => ({ subject, limit, remaining }));
  return {
    refusal: refusalFor(longest, asked.tokens),
    ...(onlyTokens && { short: { of: "tokens_per_minute", tokens: asked.tokens, limits } }),
  };
}

function isFree({ row, limits }: Limited, tokens: number, nowUs: number): boolean {
  const { requestsPerMinute, tokensPerMinute, concurrent } = limits;
  return (
    (concurrent === null || row.running < concurrent) &&
    (requestsPerMinute === null || waitMs(row.requestsTat, nowUs, costUs(1, requestsPerMinute)) === 0) &&
    (tokensPerMinute === null || waitMs(row.tokensTat, nowUs, costUs(tokens, tokensPerMinute)) === 0)
  );
}

const waitOf = ({ waitMs: ms }: Reached): number => ms ?? Number.POSITIVE_INFINITY;

function reachedIn(at: Limited, { tokens, bounded = false }: AskedTokens, nowUs: number): Reached[] {
  const { row, limits } = at;
  const perMinute = (of: "requests" | "tokens", limit: number | null, tat: number): Reached[] => {
    if (limit === null) return [];
    let wait = waitMs(tat, nowUs, costUs(of === "tokens" ? tokens : 1, limit));
    // Whether more than a whole minute's tokens never fit, a count tells once they are free.
    if (wait === null && bounded && tat > nowUs) wait = resetMs(tat, nowUs);
    return wait === 0 ? [] : [{ at, of, limit, remaining: remainingAt(tat, nowUs, limit), waitMs: wait }];
  };
  const { concurrent } = limits;
  return [
    ...perMinute("requests", limits.requestsPerMinute, row.requestsTat),
    ...perMinute("tokens", limits.tokensPerMinute, row.tokensTat),
    ...(concurrent === null || row.running < concurrent
      ? []
      : [{ at, of: "concurrent", limit: concurrent, remaining: 0, waitMs: SHORTLY_MS } as const]),
  ];
}

function refusalFor({ at, of, limit, remaining, waitMs: wait }: Reached, tokens: number): Refusal {
  const whose = WHOSE[at.subject];
  const details = { subject: at.subject, dimension: of, limit, remaining };
  const type = of === "tokens" ? "tokens" : "requests";
  if (wait === null)
    return new Refusal(
      "rate_limit_exceeded",
      `${whose} may use ${counted(limit, "token")} per minute, and this request alone may use ${tokens}. Lower max_tokens, or shorten the messages.`,
      { type, retry: false, details: { ...details, tokens } },
    );
  const message = {
    requests: `${whose} may send ${counted(limit, "request")} per minute.`,
    tokens: `${whose} may use ${counted(limit, "token")} per minute: ${remaining} are available now, and this request may use ${tokens}. Tokens that requests reserve but do not use are returned when those requests end.`,
    concurrent: `${whose} may run ${counted(limit, "request")} at the same time; streams whose client has disconnected count until they end.`,
  }[of];
  return new Refusal("rate_limit_exceeded", `${message} Send the request again in ${secondsOf(wait)}.`, {
    type,
    retryAfterMs: wait,
    details: of === "tokens" ? { ...details, tokens } : details,
  });
}

const secondsOf = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  return seconds === 1 ? "a second" : `${seconds} seconds`;
};
