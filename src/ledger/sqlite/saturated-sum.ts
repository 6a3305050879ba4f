// Sums over stored figures that must not throw over a single damaged row.

/** Sums whole numbers or money, capped at 63 bits: SQLite's own `sum` throws beyond that. 0 if there are none. */
export function saturatedSum(expression: string): string {
  const high = `(sum((${expression}) >> 31) + (sum((${expression}) & 2147483647) >> 31))`;
  return `CASE WHEN ${high} IS NULL THEN 0 WHEN ${high} >= 4294967296 THEN 9223372036854775807
            ELSE (${high} << 31) + (sum((${expression}) & 2147483647) & 2147483647) END`;
}
