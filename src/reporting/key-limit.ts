// How a key stands against its monthly limit: admission refuses it once spend and running holds reach it (money.md §10).
import type { KeyRecord } from "../registry/api-keys.ts";

const NEAR_PERCENT = 90n;

/**
 * `reached`: by spend alone, until the month turns or the limit is raised. `held`: only because running requests hold what is
 * left, and what they do not use comes back.
 */
export function limitStanding({
  state,
  limit,
  monthSpend,
  held,
}: Pick<KeyRecord, "state" | "limit" | "monthSpend" | "held">): "open" | "near" | "held" | "reached" {
  if (state !== "active" || limit === null) return "open";
  if (monthSpend >= limit) return "reached";
  if (monthSpend + held >= limit) return "held";
  return (monthSpend + held) * 100n >= limit * NEAR_PERCENT ? "near" : "open";
}
