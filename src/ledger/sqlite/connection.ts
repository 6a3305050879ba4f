// Everything prepared on the one writing connection. Rebuilt when the store is reopened: statements of
// a connection that saw an I/O error are not trusted (money.md §2).
import type { Statement } from "bun:sqlite";
import type { Query } from "../../store/sql.ts";
import { runOnSqlite } from "../../store/sqlite-sql.ts";
import type { SqliteStore } from "../../store/sqlite.ts";
import type { BatchContext } from "../commit/batch-state.ts";
import { KeyReader } from "./key-reader.ts";
import { SqliteLoad } from "./load.ts";
import { SqliteWrite } from "./write.ts";

export class SqliteConnection {
  readonly keys: KeyReader;
  readonly load: SqliteLoad;
  readonly write: SqliteWrite;
  private readonly writer: SqliteStore["writer"];
  private readonly beginning: Statement;
  private readonly committing: Statement;

  constructor(
    { writer, dataKey }: Pick<SqliteStore, "writer" | "dataKey">,
    { rateDefaults }: Pick<BatchContext, "rateDefaults">,
  ) {
    this.load = new SqliteLoad(writer, rateDefaults);
    this.keys = new KeyReader(this.load);
    this.write = new SqliteWrite(writer, dataKey);
    this.writer = writer;
    this.beginning = writer.prepare("BEGIN IMMEDIATE");
    this.committing = writer.prepare("COMMIT");
  }

  /** Begins a transaction; nothing else runs before it ends. */
  begin(): void {
    this.keys.forget();
    this.beginning.run();
  }

  /** Durable when it returns; if it throws, the outcome is unknown. */
  commit(): void {
    this.committing.run();
  }

  /** Runs the query to its end before anything else happens; in the batch's transaction if one is open. */
  run<T>(query: Query<T>): T {
    return runOnSqlite(this.writer, query);
  }
}
