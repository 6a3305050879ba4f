// How records become JSON, CSV and words: times as RFC 3339 in UTC, lists as one whole page, and the one amount that is a JSON
// number from its decimal text (money.md §6).

/** Printed in place of an invalid stored time, so that the rest of its record and its page stay readable. */
export const DAMAGED = "damaged";

/** RFC 3339, or `DAMAGED` for anything outside the years 0 to 9999. The only place that prints times; it never throws. */
export function printTime(ms: number | bigint): string {
  const at = new Date(Number(ms));
  const year = at.getUTCFullYear();
  return year >= 0 && year <= 9999 ? at.toISOString() : DAMAGED;
}
/** The UTC day, `YYYY-MM-DD`, or `DAMAGED`. */
export const printDay = (ms: number | bigint): string => printTime(ms).slice(0, "YYYY-MM-DD".length);
/** For sentences: `2026-11-18 12:00 UTC`, or `DAMAGED`. */
export const printMinute = (ms: number | bigint): string => {
  const text = printTime(ms);
  return text === DAMAGED ? text : `${text.slice(0, "YYYY-MM-DDThh:mm".length).replace("T", " ")} UTC`;
};
export const printTimeOrNull = (ms: number | bigint | null): string | null =>
  ms === null ? null : printTime(ms);
/** A complete list: no page follows. */
export const printList = <Row>(data: Row[]): { data: Row[]; next_cursor: null } => ({
  data,
  next_cursor: null,
});

const { rawJSON } = JSON as unknown as { rawJSON: (literal: string) => number };
/** A value that `JSON.stringify` prints as exactly this number literal; do not compute with it. */
export const printNumber = (literal: string): number => rawJSON(literal);
/** A sum of tokens, exact even if a JavaScript number would not be. */
export const printSum = (sum: bigint): number =>
  sum <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(sum) : printNumber(String(sum));
