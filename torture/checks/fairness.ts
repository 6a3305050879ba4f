// A tenant that floods the token counters does not slow others down.
import type { Check } from "../evidence.ts";
import type { Fairness } from "../fairness.ts";

/** What a victim's slowest calls may take beside a flood, as a multiple of what they take alone. */
const SLOWER_AT_MOST = 3;

/** The best round counts: the others may have met something else that ran on the machine. */
export const fairness: Check = ({ found: { fairness: rounds } }) => {
  const fair = ({ aloneMs, floodedMs }: Fairness): boolean => floodedMs <= aloneMs * SLOWER_AT_MOST;
  if (rounds.length === 0 || rounds.some(fair)) return [];
  return [{ broken: "a tenant's flood slowed another one down", facts: { rounds } }];
};
