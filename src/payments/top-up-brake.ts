// Keeps automatic charges from running away, whatever the terms say: a customer who finds a hundred charges
// on the card was robbed, however correctly each was credited.
import { HOUR_MS } from "../domain/durations.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { AutoTopUpTerms } from "./auto-top-up-book.ts";

/** Limits on an organization's automatic charges, open ones included. */
const AT_MOST = [
  { charges: 4, within: "an hour", ms: HOUR_MS },
  { charges: 20, within: "a day", ms: 24 * HOUR_MS },
] as const;
/** How far back charges are counted. */
export const LOOKS_BACK_MS = 24 * HOUR_MS;

/**
 * The balance below which an organization is topped up: its threshold, but never more than one charge
 * reaches. Terms from before this rule may have a threshold above the amount, which would charge again at
 * every check.
 */
export const actsBelow = ({ threshold, amount }: Pick<AutoTopUpTerms, "threshold" | "amount">): NanoUsd =>
  threshold > amount ? amount : threshold;

export interface Brake {
  reason: string;
  untilMs: number;
}

/**
 * The limit that one more charge would exceed; null if none. `chargedAtMs`: earlier charges, in any order.
 */
export function brakeOf(chargedAtMs: readonly number[], nowMs: number): Brake | null {
  for (const { charges, within, ms } of AT_MOST) {
    const recent = chargedAtMs.filter((atMs) => atMs > nowMs - ms).toSorted((a, b) => b - a);
    const leaving = recent[charges - 1];
    if (leaving !== undefined)
      return {
        reason: `At most ${charges} automatic top-ups are made in ${within}. Raise the amount of each, or add credits by hand.`,
        untilMs: leaving + ms,
      };
  }
  return null;
}
