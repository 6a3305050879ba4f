// A tenant that floods the token counters does not slow others down.
import type { Check } from "../evidence.ts";
import { isFair } from "../fairness.ts";

export const fairness: Check = ({ found: { fairness: rounds } }) => {
  if (rounds.length === 0 || rounds.some(isFair)) return [];
  return [{ broken: "a tenant's flood slowed another one down", facts: { rounds } }];
};
