// The SQL port on SQLite: uses the store's one writer, between the ledger's batches. Both are
// synchronous steps on one thread, so neither ever sees the other's transaction open.
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { type Query, type Sql, type SqlRow, type Statement, textIn } from "./sql.ts";
import type { SqliteStore } from "./sqlite.ts";

/** Each call is one synchronous step that no other call interrupts. */
export function sqliteSql(store: Pick<SqliteStore, "writer">): Sql {
  return {
    dialect: "sqlite",
    rows: async (text, ...values) => store.writer.query<SqlRow, SQLQueryBindings[]>(text).all(...values),
    together: async (statements) => inTransaction(store, (run) => statements.map(run)),
    ifChanged: async (first, then) =>
      inTransaction(store, (run) => {
        const changed = run(first) > 0;
        if (changed) then.forEach(run);
        return changed;
      }),
  };
}

/** Runs the query to its end immediately, inside the connection's transaction if there is one. */
export function runOnSqlite<T>(database: Database, query: Query<T>): T {
  let step = query.next();
  while (step.done !== true) {
    const { value: asked } = step;
    const text = textIn("sqlite", asked);
    step = query.next(database.query<SqlRow, SQLQueryBindings[]>(text).all(...asked.values));
  }
  return step.value;
}

/** Returns how many rows a statement changed. */
type Run = (statement: Statement) => number;

function inTransaction<T>({ writer }: Pick<SqliteStore, "writer">, work: (run: Run) => T): T {
  writer.run("BEGIN IMMEDIATE");
  try {
    const result = work((asked) => writer.query(textIn("sqlite", asked)).run(...asked.values).changes);
    writer.run("COMMIT");
    return result;
  } catch (error) {
    if (writer.inTransaction) writer.run("ROLLBACK");
    throw error;
  }
}
