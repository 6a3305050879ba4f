// People in a file of their own, on one connection: while a change is open, all other statements wait for a
// moment. Audit lines wait in the file's outbox.
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { openedFrom, privateFile } from "../store/private-file.ts";
import { closeSqlite } from "../store/sqlite-connection.ts";
import { numberOf } from "../store/sql.ts";
import { isStoreFailure } from "../store/sqlite-error.ts";
import { Gate } from "./gate.ts";
import { AuditOutbox } from "./outbox.ts";
import type { PeopleStore } from "./store.ts";
import { type Connections, type Ran, type Transaction, PeopleTransactions } from "./transactions.ts";

/** The first one must apply to the others: a connection that is closing may hold the file for a moment. */
const PRAGMAS = ["busy_timeout = 2000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"];

/** Opens or creates the file. Throws SQLite's errors. */
export function openPeopleFile(path: string): PeopleStore {
  privateFile(path);
  const database = openedFrom(path, () => {
    const opened = new Database(path, { create: true, readwrite: true });
    for (const pragma of PRAGMAS) opened.run(`PRAGMA ${pragma}`);
    return opened;
  });
  const transactions = new PeopleTransactions(connectionsOn(database));
  const change: PeopleStore["change"] = async (text, ...values) =>
    (await transactions.write(text, values)).changes;
  const rows: PeopleStore["rows"] = async (text, ...values) => (await transactions.read(text, values)).rows;
  const outbox = new AuditOutbox({ write: change, read: rows });
  return {
    database,
    transactions,
    change,
    rows,
    line: (note, atMs) => outbox.put(note, atMs),
    outbox,
    locking: "",
    // The data directory belongs to one process.
    alone: (work) => work(),
    losses: () => 0,
    away: () => takesNoWrites(transactions),
    close: async () => {
      foldLog(database);
      closeSqlite(database);
    },
  };
}

function connectionsOn(database: Database): Connections {
  const gate = new Gate();
  return {
    async once(text, values, own) {
      for (;;) {
        const begun = own();
        if (begun !== null) return await (await begun).run(text, values);
        if (gate.left === null) return runOn(database, text, values);
        await gate.left;
      }
    },
    async begin() {
      const leave = await gate.enter();
      try {
        database.run("BEGIN IMMEDIATE");
      } catch (error) {
        leave();
        throw error;
      }
      return transactionOn(database, leave);
    },
  };
}

const transactionOn = (database: Database, leave: () => void): Transaction => ({
  async run(text, values) {
    // A full disk ends the transaction: later statements would be kept without the earlier ones.
    if (!database.inTransaction) throw new Error("the transaction of this change was rolled back");
    return runOn(database, text, values);
  },
  async commit() {
    try {
      if (!database.inTransaction) throw new Error("the transaction of this change was rolled back");
      database.run("COMMIT");
    } catch (error) {
      if (database.inTransaction) database.run("ROLLBACK");
      throw error;
    } finally {
      leave();
    }
  },
  async rollback() {
    try {
      if (database.inTransaction) database.run("ROLLBACK");
    } finally {
      leave();
    }
  },
});

function runOn(database: Database, text: string, values: readonly unknown[]): Ran {
  const statement = database.query<Record<string, unknown>, SQLQueryBindings[]>(text);
  const bound = values as SQLQueryBindings[];
  if (statement.columnNames.length > 0) return { rows: statement.all(...bound), changes: 0 };
  return { rows: [], changes: statement.run(...bound).changes };
}

/** If there is no room, the log stays next to the file, and the next open reads both. */
function foldLog(database: Database): void {
  try {
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  }
}

/** Detects a full disk or an unwritable file, by writing back a value that is already there. */
async function takesNoWrites(transactions: PeopleTransactions): Promise<boolean> {
  try {
    const [row] = (await transactions.read("PRAGMA user_version", [])).rows;
    await transactions.read(`PRAGMA user_version = ${numberOf(row?.["user_version"] ?? 0)}`, []);
    return false;
  } catch (error) {
    return isStoreFailure(error);
  }
}
