// The SQL port on SQLite: the store's one writer, between the ledger's batches. Both are synchronous steps on one
// thread, so neither ever sees the other's transaction open.
import type { SQLQueryBindings } from "bun:sqlite";
import type { Sql, SqlRow, Statement } from "./sql.ts";
import type { SqliteStore } from "./sqlite.ts";

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

/** How many rows a statement changed. */
type Run = (statement: Statement) => number;

function inTransaction<T>({ writer }: Pick<SqliteStore, "writer">, work: (run: Run) => T): T {
  writer.run("BEGIN IMMEDIATE");
  try {
    const result = work(({ text, values }) => writer.query(text).run(...values).changes);
    writer.run("COMMIT");
    return result;
  } catch (error) {
    if (writer.inTransaction) writer.run("ROLLBACK");
    throw error;
  }
}
