// The sign-in library's way to the store: through our transactions, so that what it writes in the middle of a call is part of the
// change that the call is.
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

/** Counts of tries and what is verified once: spent whatever comes of the call, and written before a password is hashed. */
const SPENT =
  /^\s*(?:insert into|update|delete from|select .*? from)\s+\(?(?:select .*? from\s+)?"(?:verification|rateLimit)"/is;
const WRITES = /^\s*(?:insert|update|delete)/i;

/** What the library takes as its database. */
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

/** The gate in front of the file's one connection is ours: the query builder's own would keep a change's statements out of it. */
class ManyOnOne extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class LibraryConnection implements DatabaseConnection {
  /** Of a transaction that the library began: null until its first statement says what it is about. */
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
