// How records become JSON, CSV and words: times as RFC 3339 in UTC, lists as one whole page, the one amount that is a
// JSON number from its decimal text (money.md §6).

/** What is printed in the place of a stored time that is none: the rest of its record, and its page, are well. */
export const DAMAGED = "damaged";

/** RFC 3339, or `DAMAGED` for what is no time of the years 0 to 9999. The only place that prints one; it never throws. */
export function printTime(ms: number | bigint): string {
  const at = new Date(Number(ms));
  const year = at.getUTCFullYear();
  return year >= 0 && year <= 9999 ? at.toISOString() : DAMAGED;
}
/** The UTC day, `YYYY-MM-DD`, or `DAMAGED`. */
export const printDay = (ms: number | bigint): string => printTime(ms).slice(0, "YYYY-MM-DD".length);
/** In a sentence: `2026-11-18 12:00 UTC`, or `DAMAGED`. */
export const printMinute = (ms: number | bigint): string => {
  const text = printTime(ms);
  return text === DAMAGED ? text : `${text.slice(0, "YYYY-MM-DDThh:mm".length).replace("T", " ")} UTC`;
};
export const printTimeOrNull = (ms: number | bigint | null): string | null =>
  ms === null ? null : printTime(ms);
/** A list that is shown whole: no page follows. */
export const printList = <Row>(data: Row[]): { data: Row[]; next_cursor: null } => ({
  data,
  next_cursor: null,
});

const { rawJSON } = JSON as unknown as { rawJSON: (literal: string) => number };
/** A value that `JSON.stringify` prints as exactly this number literal; nothing may compute with it. */
export const printNumber = (literal: string): number => rawJSON(literal);
/** A sum of tokens; exact also where a JavaScript number would not be. */
export const printSum = (sum: bigint): number =>
  sum <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(sum) : printNumber(String(sum));
