// Sums over stored figures, which must not throw over one row that holds anything.

/** The sum of whole numbers or of money, 63 bits at most: SQLite's own `sum` throws beyond that. 0 where there are none. */
export function saturatedSum(expression: string): string {
  const high = `(sum((${expression}) >> 31) + (sum((${expression}) & 2147483647) >> 31))`;
  return `CASE WHEN ${high} IS NULL THEN 0 WHEN ${high} >= 4294967296 THEN 9223372036854775807
            ELSE (${high} << 31) + (sum((${expression}) & 2147483647) & 2147483647) END`;
}
