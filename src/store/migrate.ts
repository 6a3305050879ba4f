// Numbered migrations with checksums: each runs once, in order, in its own transaction. A database that is newer than
// the program, or whose migrations were edited afterwards, is refused (libraries.md §5, hardening.md S11).
import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { LEDGER_SCHEMA } from "./migrations/0001-ledger.ts";
import { STREAM_PROGRESS_SCHEMA } from "./migrations/0002-stream-progress.ts";
import { PAYMENTS_SCHEMA } from "./migrations/0003-payments.ts";
import { JOURNAL_SCHEMA } from "./migrations/0004-journal.ts";
import { ENTITLEMENT_NOTES_SCHEMA } from "./migrations/0005-entitlement-notes.ts";
import { ALERTS_SCHEMA } from "./migrations/0006-alerts.ts";
import { BREAKERS_SCHEMA } from "./migrations/0007-breakers.ts";
import { JOURNAL_KEYS_SCHEMA } from "./migrations/0008-journal-keys.ts";
import { AUDIT_ORIGIN_SCHEMA } from "./migrations/0009-audit-origin.ts";
import { DEVICE_LOGINS_SCHEMA } from "./migrations/0010-device-logins.ts";
import { USES_AND_WAITS_SCHEMA } from "./migrations/0011-uses-and-waits.ts";
import { ASKED_SCHEMA } from "./migrations/0012-asked.ts";
import { DISPUTE_MOVES_SCHEMA } from "./migrations/0013-dispute-moves.ts";
import { QUARANTINE_SCHEMA } from "./migrations/0014-quarantine.ts";
import { KEY_MAKERS_SCHEMA } from "./migrations/0015-key-makers.ts";
import { ENTITLEMENT_LOOK_UPS_SCHEMA } from "./migrations/0016-entitlement-look-ups.ts";
import { LOWERED_HOLDS_SCHEMA } from "./migrations/0017-lowered-holds.ts";
import { KEY_LOOK_UPS_SCHEMA } from "./migrations/0018-key-look-ups.ts";
import { passFence } from "./move-fence.ts";
import { StoreFailure } from "./store-failure.ts";

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "ledger", sql: LEDGER_SCHEMA },
  { version: 2, name: "stream-progress", sql: STREAM_PROGRESS_SCHEMA },
  { version: 3, name: "payments", sql: PAYMENTS_SCHEMA },
  { version: 4, name: "journal", sql: JOURNAL_SCHEMA },
  { version: 5, name: "entitlement notes", sql: ENTITLEMENT_NOTES_SCHEMA },
  { version: 6, name: "alerts", sql: ALERTS_SCHEMA },
  { version: 7, name: "breakers", sql: BREAKERS_SCHEMA },
  { version: 8, name: "journal keys", sql: JOURNAL_KEYS_SCHEMA },
  { version: 9, name: "audit origin", sql: AUDIT_ORIGIN_SCHEMA },
  { version: 10, name: "device logins", sql: DEVICE_LOGINS_SCHEMA },
  { version: 11, name: "uses and waits", sql: USES_AND_WAITS_SCHEMA },
  { version: 12, name: "asked", sql: ASKED_SCHEMA },
  { version: 13, name: "dispute moves", sql: DISPUTE_MOVES_SCHEMA },
  { version: 14, name: "quarantine", sql: QUARANTINE_SCHEMA },
  { version: 15, name: "key makers", sql: KEY_MAKERS_SCHEMA },
  { version: 16, name: "entitlement look-ups", sql: ENTITLEMENT_LOOK_UPS_SCHEMA },
  { version: 17, name: "lowered holds", sql: LOWERED_HOLDS_SCHEMA },
  { version: 18, name: "key look-ups", sql: KEY_LOOK_UPS_SCHEMA },
];

const checksumOf = (migration: Migration): string => createHash("sha256").update(migration.sql).digest("hex");

/** Brings the database to the newest schema. An up-to-date one costs two reads. `mover`: the move that it is on. */
export function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  mover: string | null = null,
): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS schema_migration (
       version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
     ) STRICT`,
  );
  const applied = new Map(
    database
      .query<{ version: bigint; checksum: string; name: string }, []>(
        "SELECT version, checksum, name FROM schema_migration",
      )
      .all()
      .map((row) => [Number(row.version), row] as const),
  );
  passFence(applied, mover);
  const newest = migrations.at(-1)?.version ?? 0;
  const found = Math.max(0, ...applied.keys());
  if (found > newest) {
    throw new StoreFailure(
      "newer_schema",
      `the database has schema ${found}, this program knows ${newest}; start the newer program, or restore a backup`,
    );
  }
  for (const migration of migrations) {
    const checksum = applied.get(migration.version)?.checksum;
    if (checksum === undefined) apply(database, migration);
    else if (checksum !== checksumOf(migration)) {
      throw new StoreFailure(
        "changed_migration",
        `migration ${migration.version} (${migration.name}) differs from the one this database was made with; use the program it came from`,
      );
    }
  }
}

function apply(database: Database, migration: Migration): void {
  database.transaction(() => {
    database.run(migration.sql);
    database
      .query("INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)")
      .run(migration.version, migration.name, checksumOf(migration), Math.floor(Date.now()));
  })();
}
