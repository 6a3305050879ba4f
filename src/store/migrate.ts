// Migrations of the SQLite store, with checksums: each runs once, in order, in its own transaction
// (all in one if the store is empty). A database that is newer than the program, or whose migrations
// were edited afterwards, is refused (libraries.md §5, hardening.md S11).
import type { Database } from "bun:sqlite";
import { checksumOf, type Migration, MIGRATIONS, unapplied } from "./migrations/list.ts";
import { passFence } from "./move-fence.ts";

export interface MigrateTerms {
  migrations?: readonly Migration[];
  /** The id of the move in progress, which passes its own fence. */
  mover?: string | null;
  /** Throws if what is in the database is not for this process; runs before anything in it is changed. */
  check?: () => void;
}

/** Brings the database to the newest schema. An up-to-date one costs two reads. */
export function migrate(
  database: Database,
  { migrations = MIGRATIONS.sqlite, mover = null, check = () => {} }: MigrateTerms = {},
): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS schema_migration (
       version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
     ) STRICT`,
  );
  const applied = appliedIn(database);
  passFence(applied, mover);
  const missing = unapplied(migrations, applied);
  check();
  // An empty store is created completely or not at all, and waits for its disk once.
  if (applied.size === 0)
    database.transaction(() => missing.forEach((migration) => apply(database, migration)))();
  else for (const migration of missing) apply(database, migration);
}

/** Returns the migrations that the database was made with, including the fence of a move. */
export const appliedIn = (database: Database): Map<number, { checksum: string; name: string }> =>
  new Map(
    database
      .query<{ version: bigint; checksum: string; name: string }, []>(
        "SELECT version, checksum, name FROM schema_migration",
      )
      .all()
      .map((row) => [Number(row.version), row] as const),
  );

function apply(database: Database, migration: Migration): void {
  database.transaction(() => {
    database.run(migration.sql);
    database
      .query("INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)")
      .run(migration.version, migration.name, checksumOf(migration), Math.floor(Date.now()));
  })();
}
