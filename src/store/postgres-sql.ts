// The SQL port on PostgreSQL: single statements through the pool, lists of them in one transaction. A database that is
// away is a refusal to those who asked, not a bug.
import type { Pool } from "pg";
import { toldAway } from "./postgres-error.ts";
import type { Sql, SqlRow, Statement } from "./sql.ts";

export function postgresSql(pool: Pool): Sql {
  return {
    dialect: "postgresql",
    rows: async (text, ...values) => (await told(pool.query<SqlRow>(numbered(text), values))).rows,
    together: (statements) =>
      told(
        inTransaction(pool, async (run) => {
          const changed: number[] = [];
          for (const statement of statements) changed.push(await run(statement));
          return changed;
        }),
      ),
    ifChanged: (first, then) =>
      told(
        inTransaction(pool, async (run) => {
          if ((await run(first)) === 0) return false;
          for (const statement of then) await run(statement);
          return true;
        }),
      ),
  };
}

const told = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw toldAway(error);
  });

/** Parameters are written `?1` in shared SQL. */
const numbered = (text: string): string => text.replaceAll(/\?(\d+)/g, "$$$1");

/** How many rows a statement changed. */
type Run = (statement: Statement) => Promise<number>;

async function inTransaction<T>(pool: Pool, work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(
      async ({ text, values }) => (await client.query(numbered(text), [...values])).rowCount ?? 0,
    );
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A connection whose transaction may still be open is not given to anybody else.
    client.release(true);
    throw error;
  }
}
