// Writes what a batch decided: each row once, every money update conditional on what was read (money.md
// §5, §11). Runs inside the batch's transaction; a row that is not as it was read rolls the batch back.
import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { appendAuditLine } from "../../store/audit-log.ts";
import { runOnSqlite } from "../../store/sqlite-sql.ts";
import { eachWrite } from "../batch-writes.ts";
import type { Write } from "../column-writes.ts";
import { WRITE } from "../columns.ts";
import type { Changes } from "../rows.ts";

type Writing = Statement<unknown, SQLQueryBindings[]>;

export class SqliteWrite {
  /** Prepared once per connection. */
  private readonly statements: ReadonlyMap<string, Writing>;

  constructor(
    private readonly database: Database,
    private readonly dataKey: Uint8Array,
  ) {
    this.statements = new Map(
      Object.values(WRITE).map((write) => [
        write.name,
        database.prepare<unknown, SQLQueryBindings[]>(textOf(write)),
      ]),
    );
  }

  write(changes: Changes): void {
    eachWrite(changes, this.dataKey, (write, rows) => this.run(write, rows));
    for (const line of changes.auditLines) runOnSqlite(this.database, appendAuditLine(line, line.atMs));
  }

  private run<Row>({ name, values, once }: Write<Row>, rows: readonly Row[]): void {
    const statement = this.statements.get(name);
    if (statement === undefined) throw new Error(`${name} was not prepared`);
    for (const row of rows) {
      const { changes } = statement.run(...values(row));
      if (once && changes !== 1) throw new Error(`${name}: a row has changed since it was read`);
    }
  }
}

/** Returns a statement for one row: `?n` for the fields of `r`. */
function textOf({ parameters, statement }: Write<never>): string {
  const columns = parameters.map(({ column }) => column);
  const place = (column: string): string => `?${columns.indexOf(column) + 1}`;
  if (statement.kind !== "insert")
    return `${statement.head} WHERE ${statement.where}`.replaceAll(/\br\.(\w+)/g, (_, column: string) =>
      place(column),
    );
  const { into, fixed, onConflict } = statement;
  const names = [...columns, ...fixed.map(({ column }) => column)].join(", ");
  const values = [...columns.map(place), ...fixed.map(({ value }) => value)].join(", ");
  return `INSERT INTO ${into} AS had (${names}) VALUES (${values}) ${onConflict}`;
}
