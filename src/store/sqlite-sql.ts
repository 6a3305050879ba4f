// The SQL port on SQLite: the store's one writer, between the ledger's batches. Both are synchronous steps on one
// thread, so neither ever sees the other's transaction open.
import type { SQLQueryBindings } from "bun:sqlite";
import type { Sql, SqlRow, Statement } from "./sql.ts";
import type { SqliteStore } from "./sqlite.ts";

export function sqliteSql(store: Pick<SqliteStore, "writer">): Sql {
  return {
    dialect: "sqlite",
    rows: async (text, ...values) => store.writer.query<SqlRow, SQLQueryBindings[]>(text).all(...values),
    together: async (statements) => inTransaction(store, statements),
  };
}

function inTransaction({ writer }: Pick<SqliteStore, "writer">, statements: readonly Statement[]): number[] {
  writer.run("BEGIN IMMEDIATE");
  try {
    const changed = statements.map(({ text, values }) => writer.query(text).run(...values).changes);
    writer.run("COMMIT");
    return changed;
  } catch (error) {
    if (writer.inTransaction) writer.run("ROLLBACK");
    throw error;
  }
}
