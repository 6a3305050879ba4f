// Usage that a provider reported beyond the quoted bounds is stored with its call: the variance that a settlement
// booked for it is also what recovery books, the receipt shows and verification recomputes (money.md §6).
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { AttemptRecord } from "./records.ts";

/** Returns the usage reported by the last call, which is the one that was charged; null if it was within the bounds. */
export const lastTold = (attempts: readonly Pick<AttemptRecord, "told">[]): TokenCounts | null =>
  attempts.at(-1)?.told ?? null;
