// Exact sums in SQL, for both stores, of whole numbers or of money: SQLite's own `sum` throws beyond 63 bits, rows of older
// programs hold whatever a provider told, and one damaged row may hold anything. So the halves of the numbers are added up
// apart, and come back as one text, which `exact` puts together.
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { orNull, type SqlRow, textOf } from "./sql.ts";

const HALF = 2n ** 31n;

/** The SQL of a sum, around its expression, which stands in it twice. */
export const AROUND_SUMMED = [
  "CAST(sum((",
  `) / ${HALF}) AS TEXT) || ' ' || CAST(sum((`,
  `) % ${HALF}) AS TEXT)`,
] as const;

/** What such an expression adds up to; 0 where there were no rows. */
export function exact(sum: string | null): bigint {
  const [high = "0", low = "0"] = (sum ?? "0 0").split(" ");
  return BigInt(high) * HALF + BigInt(low);
}

/** The same of money. */
export const exactUsd = (sum: string | null): NanoUsd => nanoUsd(exact(sum));

/** A sum as the column of that name, for `sumOf`. */
export const sumColumn = (expression: string, name: string): string =>
  `${AROUND_SUMMED.join(expression)} AS ${name}`;

/** What `sumColumn` added up. Throws for a column that holds no text. */
export const sumOf = (row: SqlRow | undefined, name: string): bigint => exact(orNull(row?.[name], textOf));
