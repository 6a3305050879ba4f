// How records become the operator's JSON: times as RFC 3339 in UTC, lists as one whole page,
// the one amount that is a JSON number from its decimal text (money.md §6).
import type { ListJson } from "../api/shapes/records.ts";

export const printTime = (ms: number | bigint): string => new Date(Number(ms)).toISOString();
export const printTimeOrNull = (ms: number | bigint | null): string | null =>
  ms === null ? null : printTime(ms);
export const printList = <Row>(data: Row[]): ListJson<Row> => ({ data, next_cursor: null });

const { rawJSON } = JSON as unknown as { rawJSON: (literal: string) => number };
/** A value that `JSON.stringify` prints as exactly this number literal; nothing may compute with it. */
export const printNumber = (literal: string): number => rawJSON(literal);
/** A sum of tokens; exact also where a JavaScript number would not be. */
export const printSum = (sum: bigint): number =>
  sum <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(sum) : printNumber(String(sum));
