// A tenant that floods the token counters does not slow others down.
import type { Check } from "../evidence.ts";
import type { Fairness } from "../fairness.ts";

/** How long a victim's slowest calls may take beside a flood, as a multiple of their time alone. */
const SLOWER_AT_MOST = 3;

/** The best round counts: other work on the machine may have disturbed the rest. */
export const fairness: Check = ({ found: { fairness: rounds } }) => {
  const fair = ({ aloneMs, floodedMs }: Fairness): boolean => floodedMs <= aloneMs * SLOWER_AT_MOST;
  if (rounds.length === 0 || rounds.some(fair)) return [];
  return [{ broken: "a tenant's flood slowed another one down", facts: { rounds } }];
};
