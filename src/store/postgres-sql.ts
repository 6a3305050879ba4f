// The SQL port on PostgreSQL: single statements through the pool, lists of them in one transaction.
// While the database is away, callers get a refusal, not a bug.
import type { ClientBase, Pool } from "pg";
import { toldAway } from "./postgres-error.ts";
import { type Query, type Sql, type SqlRow, type SqlValue, type Statement, textIn } from "./sql.ts";

/** Throws `Refusal("overloaded")` while the database is away. */
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

/** Runs the query to its end on a connection or the pool, inside the connection's transaction if there is one. */
export async function runOnPostgres<T>(on: Pick<ClientBase | Pool, "query">, query: Query<T>): Promise<T> {
  let step = query.next();
  while (step.done !== true) step = query.next((await on.query<SqlRow>(sent(step.value))).rows);
  return step.value;
}

/** Returns the statement in the driver's form. */
export const sent = (statement: Statement): { text: string; values: SqlValue[] } => ({
  text: numbered(textIn("postgresql", statement)),
  values: [...statement.values],
});

/** Parameters are written `?1` in shared SQL. */
const numbered = (text: string): string => text.replaceAll(/\?(\d+)/g, "$$$1");

/** Returns how many rows a statement changed. */
type Run = (statement: Statement) => Promise<number>;

async function inTransaction<T>(pool: Pool, work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(async (statement) => (await client.query(sent(statement))).rowCount ?? 0);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A connection whose transaction may still be open must not be reused.
    client.release(true);
    throw error;
  }
}
