// Formats whole numbers and shares; the same everywhere, whatever the browser's language.
import { counted as countedAs } from "../../src/domain/counted.ts";

/** Created once each: a table prints hundreds of counts. */
const WHOLE = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** `12,345`. */
export const formatCount = (count: number): string => WHOLE.format(count);

/**
 * `1 request`, `12,345 requests`: a count, as a number or already printed, with its noun; `many` is the plural if it
 * is not the noun and an s.
 */
export const counted = (count: number | string, one: string, many?: string): string =>
  countedAs(typeof count === "number" ? formatCount(count) : count, one, many);

/** `1.2M`, `34k`: for axes and tiles that have the exact figure beside them or in the tooltip. */
export const shortCount = (count: number): string => COMPACT.format(count);

/**
 * `part` of `whole` as `1.5 %`. Prints `0 %` and `100 %` only for exactly nothing and everything; `–` if `whole` is
 * zero.
 */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return "–";
  if (part === 0 || part === whole) return part === 0 ? "0 %" : "100 %";
  const percent = (part / whole) * 100;
  return `${percent > 100 ? percent.toFixed(1) : Math.min(99.9, Math.max(0.1, percent)).toFixed(1)} %`;
}
