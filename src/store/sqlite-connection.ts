// Connections to the SQLite file, separate from the code that opens a store, so that a thread that
// only reads does not load its migrations.
import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { STORE_FILE } from "../domain/data-files.ts";
import { realPlace } from "../lib/real-place.ts";
import { StoreFailure } from "./store-failure.ts";

const BUSY_TIMEOUT_MS = 5_000;
/** The size that the log is cut back to after a long read (an audit, a backup) made it grow, once it is in the database. */
const LOG_KEPT_BYTES = 16 * 1024 * 1024;

/** The path of the one file that holds the store, where a link leads to it: SQLite has its log there, too. */
export const databasePath = (dataDirectory: string): string => realPlace(join(dataDirectory, STORE_FILE));

/** Opens a connection that writes and reads; the caller closes it. Throws `StoreFailure` if SQLite does not take a setting. */
export function connectSqlite(path: string): Database {
  const database = new Database(path, { readwrite: true, create: true, safeIntegers: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  database.run("PRAGMA cache_size = -8192");
  database.run(`PRAGMA journal_size_limit = ${LOG_KEPT_BYTES}`);
  // Two of the settings are off by default, and a build may ignore a pragma silently: trust only what reads back.
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
    throw new StoreFailure(
      "settings",
      `SQLite did not accept ${name} = ${wanted} for ${database.filename} (it is ${String(found)})`,
      "put the data directory on a local disk: network file systems may lack what SQLite needs",
    );
  }
}

/**
 * Closes a connection and, if it is the last one, removes its log. By default `close` leaves both open until
 * the statements made on it are collected: a file that is then renamed leaves an empty log under its old name.
 */
export function closeSqlite(database: Database): void {
  emptyLog(database);
  database.close(true);
}

/** A reader that is about to end delays its writer's end by as much. */
const READERS_END_MS = 1_000;

/**
 * While a thread that reads still has the file open, closing leaves the log: whoever then moved the file alone would lose
 * the last commits.
 */
function emptyLog(database: Database): void {
  try {
    database.run(`PRAGMA busy_timeout = ${READERS_END_MS}`);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The log stays, and whoever opens the file next reads it.
  }
}

/** Reads a file without changing it or leaving anything beside it, whether or not somebody has it open. */
export function lookInto<T>(path: string, read: (database: Database) => T): T {
  // A normal reader of a store that nobody has open would leave its own log beside it.
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

/** Opens a connection for long reads alongside the writer; the caller closes it. */
export function openReader(dataDirectory: string): Database {
  const reader = connectSqlite(databasePath(dataDirectory));
  reader.run("PRAGMA query_only = ON");
  return reader;
}
