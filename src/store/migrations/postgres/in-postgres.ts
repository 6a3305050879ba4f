// Converts tables of the SQLite store to PostgreSQL, for tables outside the money path that are the same in both.

/** 64-bit numbers are BIGINT, PostgreSQL is always strict, and tables may be on other machines than their parents. */
export const inPostgres = (tables: string): string =>
  tables
    .replaceAll(/\bINTEGER\b/g, "BIGINT")
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ");")
    .replaceAll(/ REFERENCES \w+ \(\w+\)/g, "");
