// Exact sums in SQL for both stores, of whole numbers or money. SQLite's own `sum` throws beyond 63 bits, rows of older
// programs hold whatever a provider reported, and a damaged row may hold anything. The halves of the numbers are
// therefore summed separately and returned as one text, which `exact` combines.
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { orNull, type SqlRow, textOf } from "./sql.ts";

const HALF = 2n ** 31n;

/** The SQL of a sum around its expression, which occurs in it twice. */
export const AROUND_SUMMED = [
  "CAST(sum((",
  `) / ${HALF}) AS TEXT) || ' ' || CAST(sum((`,
  `) % ${HALF}) AS TEXT)`,
] as const;

/** Returns the value of such a sum; 0 if there were no rows. */
export function exact(sum: string | null): bigint {
  const [high = "0", low = "0"] = (sum ?? "0 0").split(" ");
  return BigInt(high) * HALF + BigInt(low);
}

/** Returns the same as money. */
export const exactUsd = (sum: string | null): NanoUsd => nanoUsd(exact(sum));

/** Selects a sum as a column with this name, for `sumOf`. */
export const sumColumn = (expression: string, name: string): string =>
  `${AROUND_SUMMED.join(expression)} AS ${name}`;

/** Returns the sum in a `sumColumn` column. Throws if the column does not hold text. */
export const sumOf = (row: SqlRow | undefined, name: string): bigint => exact(orNull(row?.[name], textOf));
