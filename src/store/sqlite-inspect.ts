// What an embedded store is, without changing it: for `doctor`, beside a gateway that runs or one that does not start.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { DATA_KEY_FILE, STORE_FILE } from "../domain/data-files.ts";
import { opensWith } from "./data-key.ts";
import { appliedIn } from "./migrate.ts";
import { MIGRATIONS, unapplied } from "./migrations/list.ts";
import { sourceFence } from "./move-fence.ts";
import { StoreFailure } from "./store-failure.ts";

/** Requests that wait for an operator, `req_… (why)`, the oldest first; none where the store does not know the table. */
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

/** Organizations whose paid calls are refused, by their ids; none where the store does not know the table. */
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

/** Where the store is on its way to; null where it stays. */
export const movingTo = (dataDirectory: string): string | null =>
  reading(dataDirectory, (database) => {
    const fence = sourceFence(database);
    return fence === null ? null : `being moved to ${fence.place}: no gateway opens it`;
  });

/** Why this program would not open it: its schema, or its data key; null where it would. */
export const openingRefusal = (dataDirectory: string): string | null =>
  reading(dataDirectory, (database) => {
    const [known] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'store_state'").values();
    if (known === undefined) return null;
    try {
      unapplied(MIGRATIONS.sqlite, appliedIn(database));
    } catch (error) {
      if (error instanceof StoreFailure) return error.message;
      throw error;
    }
    const [made] = database.query("SELECT data_key_check FROM store_state").values();
    return made === undefined || opensWith(dataDirectory, made[0] as Uint8Array)
      ? null
      : `${join(dataDirectory, DATA_KEY_FILE)} is not the key that this store was made with: restore it from the backup of the key`;
  });

function reading<T>(dataDirectory: string, read: (database: Database) => T): T {
  const database = new Database(join(dataDirectory, STORE_FILE), { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    return read(database);
  } finally {
    database.close();
  }
}
