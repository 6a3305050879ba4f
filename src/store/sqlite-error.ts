// What an error of SQLite means: one statement was refused, or the file takes none (money.md §7).
import { SQLiteError } from "bun:sqlite";

const STORE_FAILURES = /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|BUSY|NOMEM|PROTOCOL|LOCKED)/;

/** True if SQLite itself failed, rather than one statement. */
export const isStoreFailure = (error: unknown): boolean =>
  error instanceof SQLiteError && STORE_FAILURES.test(error.code ?? "");

/** True if there is no room left to write, in a database or in another file. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "SQLITE_FULL" || error.code === "ENOSPC");

/** True if SQLite lacked disk space or a lock, which says nothing about the data that it was to read. */
export const withoutRoom = (error: unknown): boolean =>
  error instanceof SQLiteError &&
  /^SQLITE_(FULL|NOMEM|BUSY|LOCKED|IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE|NOMEM|SHM))/.test(error.code ?? "");

/** True for a store failure because another connection has the file or its log locked. */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "");
