// What a provider told beyond the quoted bounds is kept with the call that it was told of: the variance that a settlement booked for it is
// what recovery books, the receipt shows and verification computes again (money.md §6).
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { AttemptRecord } from "./records.ts";

/** Of the last call, which is the one that was charged; null where it told nothing beyond them. */
export const lastTold = (attempts: readonly Pick<AttemptRecord, "told">[]): TokenCounts | null =>
  attempts.at(-1)?.told ?? null;
