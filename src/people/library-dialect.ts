// Connects the sign-in library to the store through our transactions, so that what it writes during a call is
// part of that call's change.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Transaction, PeopleTransactions } from "./transactions.ts";

/**
 * Rate-limit counts and one-time verifications: consumed whatever the outcome of the call, and written before
 * a password is hashed.
 */
const SPENT =
  /^\s*(?:insert into|update|delete from|select .*? from)\s+\(?(?:select .*? from\s+)?"(?:verification|rateLimit)"/is;
const WRITES = /^\s*(?:insert|update|delete)/i;

/** The database object that the library takes. */
export function libraryDatabase(
  transactions: PeopleTransactions,
  type: "sqlite" | "postgres",
): { dialect: Dialect; type: "sqlite" | "postgres"; transaction: true } {
  const createDriver = (): Driver => new LibraryDriver(transactions);
  const dialect: Dialect =
    type === "sqlite"
      ? {
          createDriver,
          createAdapter: () => new ManyOnOne(),
          createQueryCompiler: () => new SqliteQueryCompiler(),
          createIntrospector: (db) => new SqliteIntrospector(db),
        }
      : {
          createDriver,
          createAdapter: () => new PostgresAdapter(),
          createQueryCompiler: () => new PostgresQueryCompiler(),
          createIntrospector: (db) => new PostgresIntrospector(db),
        };
  return { dialect, type, transaction: true };
}

/**
 * Our gate guards the file's single connection: the query builder's own would keep out a change's statements.
 */
class ManyOnOne extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class LibraryConnection implements DatabaseConnection {
  /** The library's transaction: null until its first statement shows what it is about. */
  nested: Transaction | null = null;
  asked = false;

  constructor(private readonly transactions: PeopleTransactions) {}

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.asked) this.nested ??= await this.transactions.nested(SPENT.test(sql));
    const { rows, changes } =
      this.nested === null ? await this.single(sql, parameters) : await this.nested.run(sql, parameters);
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) };
  }

  // eslint-disable-next-line require-yield -- nobody asks for it
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("the sign-in library reads whole answers");
  }

  private single(sql: string, parameters: readonly unknown[]): ReturnType<PeopleTransactions["read"]> {
    return WRITES.test(sql) && !SPENT.test(sql)
      ? this.transactions.write(sql, parameters)
      : this.transactions.read(sql, parameters);
  }
}

class LibraryDriver implements Driver {
  constructor(private readonly transactions: PeopleTransactions) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LibraryConnection> {
    return new LibraryConnection(this.transactions);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    of(connection).asked = true;
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return ended(of(connection), "commit");
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return ended(of(connection), "rollback");
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

const of = (connection: DatabaseConnection): LibraryConnection => connection as LibraryConnection;

async function ended(connection: LibraryConnection, how: "commit" | "rollback"): Promise<void> {
  const { nested } = connection;
  connection.asked = false;
  connection.nested = null;
  await nested?.[how]();
}
