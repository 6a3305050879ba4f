// Describes an embedded store without changing it: for `doctor`, alongside a running gateway or one that does not start.
import type { Database } from "bun:sqlite";
import { dataKeyRefusal } from "./data-key.ts";
import { lockFilesRefusal } from "./directory-lock.ts";
import { appliedIn } from "./migrate.ts";
import { MIGRATIONS, unapplied } from "./migrations/list.ts";
import { type Fence, passFence, sourceFence } from "./move-fence.ts";
import { directoryRefusal, fileRefusal, openedFrom } from "./private-file.ts";
import { reserveRefusal } from "./reserve-file.ts";
import { assertOwnKey, closedBy, isNewStore } from "./sqlite.ts";
import { databasePath, lookInto } from "./sqlite-connection.ts";
import { StoreFailure } from "./store-failure.ts";

/** Returns requests that wait for an operator, as `req_… (why)`, oldest first; none if the store does not have the table. */
export const quarantinedIn = (dataDirectory: string): string[] =>
  reading(dataDirectory, (database) => {
    const [known] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'quarantine'").values();
    if (known === undefined) return [];
    return database
      .query(
        `SELECT q.request_id || ' (' || q.reason || ')' FROM quarantine q
         JOIN request r ON r.org_id = q.org_id AND r.request_id = q.request_id
         WHERE q.decided_at IS NULL AND r.state = 'dispatched' ORDER BY q.since`,
      )
      .values()
      .map(([said]) => String(said));
  });

/** Returns organizations whose paid calls are refused, sorted by id; none if the store does not have the table. */
export const stoppedIn = (dataDirectory: string): string[] =>
  reading(dataDirectory, (database) => {
    const [known] = database
      .query("SELECT 1 FROM sqlite_master WHERE name = 'stopped_organization'")
      .values();
    if (known === undefined) return [];
    return database
      .query("SELECT org_id FROM stopped_organization WHERE since IS NOT NULL ORDER BY org_id")
      .values()
      .map(([org]) => String(org));
  });

/** Returns the move of this store that has begun; null if none has. Throws `StoreFailure` if it cannot be read. */
export const moveOf = (dataDirectory: string): Fence | null =>
  openedFrom(databasePath(dataDirectory), () => reading(dataDirectory, sourceFence));

/** Returns where the store is being moved to; null if it is not. */
export function movingTo(dataDirectory: string): string | null {
  const fence = moveOf(dataDirectory);
  return fence === null ? null : `being moved to ${fence.place}: no gateway can open it`;
}

/**
 * Returns why a start in this directory would be refused, with its message and in the order of its checks; null if it would
 * not be. Makes and changes nothing. Does not check whether another process has the directory: `directoryOwner` does.
 * `mover`: a move passes its own fence.
 */
export function openingRefusal(dataDirectory: string, mover: "mover" | null = null): StoreFailure | null {
  const path = databasePath(dataDirectory);
  return (
    directoryRefusal(dataDirectory) ??
    lockFilesRefusal(dataDirectory) ??
    closedBy(dataDirectory) ??
    fileRefusal(path) ??
    dataKeyRefusal(dataDirectory, isNewStore(dataDirectory) ? "fresh" : "existing") ??
    reserveRefusal(dataDirectory) ??
    (isNewStore(dataDirectory) ? null : contentsRefusal(dataDirectory, mover))
  );
}

/** The refusal for an existing file: not a database, one being moved, a newer program's, or with another key. */
function contentsRefusal(dataDirectory: string, mover: "mover" | null): StoreFailure | null {
  const look = (database: Database): void => {
    const [made] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'").values();
    const applied = made === undefined ? new Map<number, never>() : appliedIn(database);
    passFence(applied, mover === null ? null : (sourceFence(database)?.id ?? null));
    unapplied(MIGRATIONS.sqlite, applied);
    assertOwnKey(database, dataDirectory);
  };
  try {
    openedFrom(databasePath(dataDirectory), () => reading(dataDirectory, look));
    return null;
  } catch (error) {
    if (error instanceof StoreFailure) return error;
    throw error;
  }
}

const reading = <T>(dataDirectory: string, read: (database: Database) => T): T =>
  lookInto(databasePath(dataDirectory), read);
