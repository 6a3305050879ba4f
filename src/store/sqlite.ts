// Opens the data directory's SQLite store: locked to this process, private, durable, migrated, with the boot epoch
// raised. SQLite takes the writes of only one connection; readers get their own (money.md §2, `sqlite-connection.ts`).
import type { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { type ReserveFile, openReserveFile } from "./reserve-file.ts";
import { dataKeyCheck, opensWith, readDataKey, takeNextDataKey } from "./data-key.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { migrate } from "./migrate.ts";
import { sourceFence } from "./move-fence.ts";
import { openedFrom, privateDirectory, privateFile } from "./private-file.ts";
import { closeSqlite, connectSqlite, databasePath } from "./sqlite-connection.ts";
import { StoreFailure } from "./store-failure.ts";

export interface SqliteStore {
  readonly dataDirectory: string;
  /** The boot number of this process: rows of a lower epoch have lost their owner. */
  readonly epoch: number;
  readonly dataKey: Uint8Array;
  /** The one connection that writes. `reopen` replaces it. */
  readonly writer: Database;
  /** Disk space kept for settlements. */
  readonly reserve: ReserveFile;
  /** Replaces the writer after an I/O error: a connection that saw one is not trusted. */
  reopen(): Database;
  close(): void;
}

/**
 * `mover` passes its own move's fence. Throws `StoreFailure` if the directory is in use, being moved,
 * too open, of a newer program, or without its data key. `held`: the caller has locked the directory, and the
 * store releases it.
 */
export function openSqliteStore(
  dataDirectory: string,
  mover: "mover" | null = null,
  held: DirectoryLock | null = null,
): SqliteStore {
  privateDirectory(dataDirectory);
  const lock = held ?? lockDirectory(dataDirectory);
  try {
    return openLocked(dataDirectory, { unlock: () => lock.release(), mover });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Where the file is kept after a move. */
export const movedPath = (dataDirectory: string): string => `${databasePath(dataDirectory)}.moved`;

/** A verified backup on its way to replacing the store; no gateway opens anything while it exists. */
export const restoringPath = (dataDirectory: string): string => `${databasePath(dataDirectory)}.restoring`;

/** The refusal of a directory whose store was moved to PostgreSQL. */
export const movedAway = (dataDirectory: string): StoreFailure =>
  new StoreFailure(
    "moving",
    `the store of ${dataDirectory} was moved to PostgreSQL`,
    `set DATABASE_URL, or move ${movedPath(dataDirectory)} away to start an empty store`,
  );

/** Returns what keeps gateways out of the directory; null if nothing does. */
export function closedBy(dataDirectory: string): StoreFailure | null {
  if (existsSync(restoringPath(dataDirectory)))
    return new StoreFailure(
      "restoring",
      `a restore of ${dataDirectory} was interrupted`,
      "run the same ./tollgate db restore FILE again",
    );
  return isNewStore(dataDirectory) && existsSync(movedPath(dataDirectory)) ? movedAway(dataDirectory) : null;
}

/** True if the store is empty or does not exist. */
export function isNewStore(dataDirectory: string): boolean {
  const path = databasePath(dataDirectory);
  return !existsSync(path) || statSync(path).size === 0;
}

function openLocked(
  dataDirectory: string,
  { unlock, mover }: { unlock: () => void; mover: "mover" | null },
): SqliteStore {
  const path = databasePath(dataDirectory);
  const closed = closedBy(dataDirectory);
  if (closed !== null) throw closed;
  const fresh = isNewStore(dataDirectory);
  privateFile(path);
  // Before the first byte of the database: a crash in between must not leave one whose key was never made.
  let dataKey = readDataKey(dataDirectory, fresh ? "fresh" : "existing");
  const reserve = openReserveFile(dataDirectory);
  let writer = openedFrom(path, () => connectSqlite(path));
  try {
    const epoch = openedFrom(path, () => {
      migrate(writer, {
        mover: mover === null ? null : (sourceFence(writer)?.id ?? null),
        check: () => assertOwnKey(writer, dataDirectory),
      });
      const state = raiseEpoch(writer, dataKeyCheck(dataKey));
      if (!Buffer.from(state.check).equals(dataKeyCheck(dataKey)))
        dataKey = takeNextDataKey(dataDirectory, state.check) ?? refuseKey();
      return state.epoch;
    });
    return {
      dataDirectory,
      epoch,
      dataKey,
      reserve,
      get writer() {
        return writer;
      },
      reopen: () => {
        writer.close();
        writer = connectSqlite(path);
        return writer;
      },
      close: () => {
        closeSqlite(writer);
        unlock();
      },
    };
  } catch (error) {
    writer.close();
    throw error;
  }
}

function raiseEpoch(database: Database, keyCheck: Uint8Array): { epoch: number; check: Uint8Array } {
  const state = database
    .query<{ epoch: bigint; data_key_check: Uint8Array }, [Uint8Array]>(
      `INSERT INTO store_state (id, epoch, data_key_check) VALUES (1, 1, ?1)
       ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1 RETURNING epoch, data_key_check`,
    )
    .get(keyCheck);
  if (state === null) throw new Error("the boot epoch was not written");
  return { epoch: Number(state.epoch), check: state.data_key_check };
}

function refuseKey(): never {
  throw wrongDataKey();
}

/** Throws if a start in this directory would not find the data key of the database. Changes nothing. */
export function assertOwnKey(database: Database, dataDirectory: string): void {
  const [table] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'store_state'").values();
  if (table === undefined) return;
  const [state] = database.query("SELECT data_key_check FROM store_state").values();
  if (state !== undefined && !opensWith(dataDirectory, state[0] as Uint8Array)) throw wrongDataKey();
}

const wrongDataKey = (): StoreFailure =>
  new StoreFailure(
    "data_key",
    "data.key is not the key that this database was created with",
    "restore it from the backup of the key",
  );
