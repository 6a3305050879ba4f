// Tables of the SQLite store as PostgreSQL writes them: for what is away from the money path, and the same in both.

/** 64-bit numbers are BIGINT, STRICT is how PostgreSQL always is, and tables may lie on other machines than their parents. */
export const inPostgres = (tables: string): string =>
  tables
    .replaceAll(/\bINTEGER\b/g, "BIGINT")
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ");")
    .replaceAll(/ REFERENCES \w+ \(\w+\)/g, "");
