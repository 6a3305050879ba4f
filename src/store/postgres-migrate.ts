// Numbered migrations on PostgreSQL, with checksums: each runs once, in order. An advisory lock makes gateways that start
// together take turns; a database that is newer than the program, or edited since, is refused (libraries.md §5).
import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { LEDGER_SCHEMA } from "./migrations/postgres/0001-ledger.ts";
import { PAYMENTS_SCHEMA } from "./migrations/postgres/0003-payments.ts";
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
import { inPostgres } from "./migrations/postgres/in-postgres.ts";
import type { Migration } from "./migrate.ts";
import { passFence } from "./move-fence.ts";
import { StoreFailure } from "./store-failure.ts";

export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "ledger", sql: LEDGER_SCHEMA },
  { version: 3, name: "payments", sql: PAYMENTS_SCHEMA },
  { version: 4, name: "journal", sql: inPostgres(JOURNAL_SCHEMA) },
  { version: 5, name: "entitlement notes", sql: inPostgres(ENTITLEMENT_NOTES_SCHEMA) },
  { version: 6, name: "alerts", sql: inPostgres(ALERTS_SCHEMA) },
  { version: 7, name: "breakers", sql: inPostgres(BREAKERS_SCHEMA) },
  { version: 8, name: "journal keys", sql: inPostgres(JOURNAL_KEYS_SCHEMA) },
  { version: 9, name: "audit origin", sql: inPostgres(AUDIT_ORIGIN_SCHEMA) },
  { version: 10, name: "device logins", sql: inPostgres(DEVICE_LOGINS_SCHEMA) },
  { version: 11, name: "uses and waits", sql: inPostgres(USES_AND_WAITS_SCHEMA) },
  { version: 12, name: "asked", sql: inPostgres(ASKED_SCHEMA) },
  { version: 13, name: "dispute moves", sql: inPostgres(DISPUTE_MOVES_SCHEMA) },
  { version: 14, name: "quarantine", sql: inPostgres(QUARANTINE_SCHEMA) },
  { version: 15, name: "key makers", sql: KEY_MAKERS_SCHEMA },
  { version: 16, name: "entitlement look-ups", sql: ENTITLEMENT_LOOK_UPS_SCHEMA },
  { version: 17, name: "lowered holds", sql: inPostgres(LOWERED_HOLDS_SCHEMA) },
  { version: 18, name: "key look-ups", sql: KEY_LOOK_UPS_SCHEMA },
];

/** Any number that is ours: the lock that migrating gateways take turns with. */
const MIGRATING = 8_041_990_771;

const checksumOf = (migration: Migration): string => createHash("sha256").update(migration.sql).digest("hex");

const GIVE_UP_AFTER_MS = 60_000;
/**
 * For a table that somebody reads at length, a dump or an audit: whoever waits for it keeps all requests waiting behind
 * himself, so a migration waits for half a second and tries again.
 */
const TABLE_WITHIN_MS = 500;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Runs `work` while no other gateway migrates this database, in one transaction. Older gateways serve on meanwhile, and
 * afterwards: a migration may add what they do not know, and take nothing away.
 */
export async function migrateThen<T>(
  client: ClientBase,
  work: () => Promise<T>,
  migrations: readonly Migration[] = POSTGRES_MIGRATIONS,
  mover: string | null = null,
): Promise<T> {
  const lateAtMs = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await once(client, work, { migrations, mover });
    } catch (error) {
      const taken = error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE;
      if (!taken || performance.now() > lateAtMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
  }
}

async function once<T>(
  client: ClientBase,
  work: () => Promise<T>,
  { migrations, mover }: { migrations: readonly Migration[]; mover: string | null },
): Promise<T> {
  await client.query("BEGIN");
  try {
    // A starting gateway may wait for another's migration, longer than any request may wait for a lock.
    await client.query(`SET LOCAL lock_timeout = ${GIVE_UP_AFTER_MS}; SET LOCAL statement_timeout = '600s'`);
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATING})`);
    await client.query(`SET LOCAL lock_timeout = ${TABLE_WITHIN_MS}`);
    await migrate(client, migrations, mover);
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {}); // the connection is gone with its transaction
    throw error;
  }
}

async function migrate(
  client: ClientBase,
  migrations: readonly Migration[],
  mover: string | null,
): Promise<void> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migration (
       version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL
     )`,
  );
  const { rows } = await client.query<{ version: bigint; checksum: string; name: string }>(
    "SELECT version, checksum, name FROM schema_migration",
  );
  const applied = new Map(rows.map((row) => [Number(row.version), row]));
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
    if (checksum === undefined) await apply(client, migration);
    else if (checksum !== checksumOf(migration)) {
      throw new StoreFailure(
        "changed_migration",
        `migration ${migration.version} (${migration.name}) differs from the one this database was made with; use the program it came from`,
      );
    }
  }
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  await client.query(migration.sql);
  await client.query(
    `INSERT INTO schema_migration (version, name, checksum, applied_at)
     VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
    [migration.version, migration.name, checksumOf(migration)],
  );
}
