// The SQL port on PostgreSQL: single statements through the pool, lists of them in one transaction.
import type { Pool } from "pg";
import type { Sql, SqlRow, Statement } from "./sql.ts";

export function postgresSql(pool: Pool): Sql {
  return {
    dialect: "postgresql",
    rows: async (text, ...values) => (await pool.query<SqlRow>(numbered(text), values)).rows,
    together: (statements) => inTransaction(pool, statements),
  };
}

/** Parameters are written `?1` in shared SQL. */
const numbered = (text: string): string => text.replaceAll(/\?(\d+)/g, "$$$1");

async function inTransaction(pool: Pool, statements: readonly Statement[]): Promise<number[]> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const changed: number[] = [];
    for (const { text, values } of statements)
      changed.push((await client.query(numbered(text), [...values])).rowCount ?? 0);
    await client.query("COMMIT");
    client.release();
    return changed;
  } catch (error) {
    // A connection whose transaction may still be open is not given to anybody else.
    client.release(true);
    throw error;
  }
}
