// Amounts as typed by people: decimal strings, checked by the same rule as on the server.
import { parseUsd } from "../../src/domain/money.ts";

/** The error for an invalid amount. */
const AMOUNT_WRONG = "A positive amount such as 25 or 0.50, with at most nine places.";

/** Null if the text is blank or a valid amount; otherwise the error. */
export const amountProblem = (typed: string): string | null =>
  typed.trim() === "" || parseUsd(typed.trim()) !== null ? null : AMOUNT_WRONG;

/** True for an amount above zero. */
export const isAmount = (typed: string): boolean => (parseUsd(typed.trim()) ?? 0n) > 0n;

/** `"25.000000000"` → `"25"`: as a person would have typed it. */
export const trimAmount = (usd: string): string => (usd.includes(".") ? usd.replace(/\.?0+$/, "") : usd);
