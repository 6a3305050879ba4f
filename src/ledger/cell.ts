// What a cell of a row is in memory. Whole numbers arrive as bigint from both stores, so that money above 2^53 stays exact;
// counts and times become numbers here and nowhere else (money.md §2).
import { type NanoUsd, nanoUsd } from "../domain/money.ts";

/** SQLite has no booleans: 1 and 0. */
export type Cell = bigint | string | Uint8Array | boolean | null;

// None of these looks at what is there: a column has one type in both stores, and `LOAD` names it.

/** A count or a time. */
export const int = (cell: Cell | undefined): number => Number(cell as bigint);
/** Nano-USD, exact. */
export const money = (cell: Cell | undefined): NanoUsd => nanoUsd(cell as bigint);
/** Of a column that is never NULL. */
export const text = (cell: Cell | undefined): string => cell as string;
export const textOrNull = (cell: Cell | undefined): string | null => cell as string | null;
export const bytes = (cell: Cell | undefined): Uint8Array => cell as Uint8Array;
/** A truth, as either store has it: `true` or 1. */
export const flag = (cell: Cell | undefined): boolean => cell === true || cell === 1n;
