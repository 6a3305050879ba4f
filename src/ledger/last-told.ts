// What a provider told beyond the quoted bounds stands with the call that it was told of. Settlement, recovery, receipt and
// audit compute the variance from the same one (money.md §6).
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { AttemptRecord } from "./ledger.ts";

/** Of the last call, which is the one that was charged; null where it told nothing beyond them. */
export const lastTold = (attempts: readonly Pick<AttemptRecord, "told">[]): TokenCounts | null =>
  attempts.at(-1)?.told ?? null;
