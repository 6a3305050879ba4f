// Converts a cell of a row to its value in memory. Whole numbers arrive as bigint from both stores, so that
// money above 2^53 stays exact; only these functions turn counts and times into numbers (money.md §2).
import { type NanoUsd, nanoUsd } from "../domain/money.ts";

/** SQLite has no booleans and uses 1 and 0. */
export type Cell = bigint | string | Uint8Array | boolean | null;

// None of these functions checks its input: a column has one type in both stores, and `LOAD` names it.

/** Converts a count or a time. */
export const int = (cell: Cell | undefined): number => Number(cell as bigint);
/** Converts nano-USD, exactly. */
export const money = (cell: Cell | undefined): NanoUsd => nanoUsd(cell as bigint);
/** Converts a column that is never NULL. */
export const text = (cell: Cell | undefined): string => cell as string;
export const textOrNull = (cell: Cell | undefined): string | null => cell as string | null;
export const bytes = (cell: Cell | undefined): Uint8Array => cell as Uint8Array;
/** Converts a boolean in either store's form: `true` or 1. */
export const flag = (cell: Cell | undefined): boolean => cell === true || cell === 1n;
