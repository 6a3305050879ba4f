// The SQL port on PostgreSQL: single statements through the pool, lists of them in one transaction. A database that is
// away is a refusal to those who asked, not a bug.
import type { Pool } from "pg";
import { toldAway } from "./postgres-error.ts";
import type { Sql, SqlRow, Statement } from "./sql.ts";

export function postgresSql(pool: Pool): Sql {
  return {
    dialect: "postgresql",
    rows: async (text, ...values) => (await told(pool.query<SqlRow>(numbered(text), values))).rows,
    together: (statements) => told(inTransaction(pool, statements)),
  };
}

const told = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw toldAway(error);
  });

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
