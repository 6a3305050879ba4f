// Connections to the SQLite file: apart from what opens a store, so that a thread that only reads one loads nothing of
// its migrations.
import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { STORE_FILE } from "../domain/data-files.ts";
import { StoreFailure } from "./store-failure.ts";

const BUSY_TIMEOUT_MS = 5_000;
/** Of the log, once what it grew to beside a long read (an audit, a backup) stands in the database: the rest goes back to the disk. */
export const LOG_KEPT_BYTES = 16 * 1024 * 1024;

/** Of the one file that holds the store. */
export const databasePath = (dataDirectory: string): string => join(dataDirectory, STORE_FILE);

/** One that writes and reads; the caller closes it. Throws `StoreFailure` when SQLite does not take a setting. */
export function connectSqlite(path: string): Database {
  const database = new Database(path, { readwrite: true, create: true, safeIntegers: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA cache_size = -8192");
  database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`);
  // Two of the defaults are off, and a build may ignore a pragma without a word: trust only what reads back.
  assertPragma(database, "journal_mode", "wal");
  assertPragma(database, "synchronous", 2n);
  assertPragma(database, "foreign_keys", 1n);
  assertPragma(database, "busy_timeout", BigInt(BUSY_TIMEOUT_MS));
  assertPragma(database, "journal_size_limit", BigInt(LOG_KEPT_BYTES));
  return database;
}

function assertPragma(database: Database, name: string, wanted: string | bigint): void {
  const found = database.query(`PRAGMA ${name}`).values()[0]?.[0];
  if (found !== wanted) {
    throw new StoreFailure("settings", `SQLite did not take ${name} = ${wanted} (it is ${String(found)})`);
  }
}

/**
 * Closes a connection and, where it is the last one, takes its log away. By itself `close` leaves both open until the statements that
 * were made on it are collected: a file that is renamed then leaves an empty log under its old name.
 */
export const closeSqlite = (database: Database): void => database.close(true);

/** Reads of a file without changing it or leaving anything beside it, whether somebody has it open or not. */
export function lookInto<T>(path: string, read: (database: Database) => T): T {
  // A reader of a store that nobody has open would leave a log of its own beside it.
  const database = existsSync(`${path}-wal`)
    ? new Database(path, { readonly: true })
    : new Database(
        `${pathToFileURL(path).href}?immutable=1`,
        constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
      );
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return read(database);
  } finally {
    database.close();
  }
}

/** A connection for long reads beside the writer; the caller closes it. */
export function openReader(dataDirectory: string): Database {
  const reader = connectSqlite(databasePath(dataDirectory));
  reader.run("PRAGMA query_only = ON");
  return reader;
}
