// The migrations of both stores, in one order. A new one is written once, in SQLite's form; where PostgreSQL stores
// something differently it has its own text. Never change one that has been released: each store keeps its checksum.
import { createHash } from "node:crypto";
import type { SqlDialect } from "../sql.ts";
import { StoreFailure } from "../store-failure.ts";
import { LEDGER_SCHEMA } from "./0001-ledger.ts";
import { STREAM_PROGRESS_SCHEMA } from "./0002-stream-progress.ts";
import { PAYMENTS_SCHEMA } from "./0003-payments.ts";
import { JOURNAL_SCHEMA } from "./0004-journal.ts";
import { ENTITLEMENT_NOTES_SCHEMA } from "./0005-entitlement-notes.ts";
import { ALERTS_SCHEMA } from "./0006-alerts.ts";
import { BREAKERS_SCHEMA } from "./0007-breakers.ts";
import { JOURNAL_KEYS_SCHEMA } from "./0008-journal-keys.ts";
import { AUDIT_ORIGIN_SCHEMA } from "./0009-audit-origin.ts";
import { DEVICE_LOGINS_SCHEMA } from "./0010-device-logins.ts";
import { USES_AND_WAITS_SCHEMA } from "./0011-uses-and-waits.ts";
import { ASKED_SCHEMA } from "./0012-asked.ts";
import { DISPUTE_MOVES_SCHEMA } from "./0013-dispute-moves.ts";
import { QUARANTINE_SCHEMA } from "./0014-quarantine.ts";
import { KEY_MAKERS_SCHEMA } from "./0015-key-makers.ts";
import { ENTITLEMENT_LOOK_UPS_SCHEMA } from "./0016-entitlement-look-ups.ts";
import { LOWERED_HOLDS_SCHEMA } from "./0017-lowered-holds.ts";
import { KEY_LOOK_UPS_SCHEMA } from "./0018-key-look-ups.ts";
import { USAGE_CLASSES_SCHEMA } from "./0019-usage-classes.ts";
import { SURFACES_SCHEMA } from "./0020-surfaces.ts";
import { RATE_LIMITS_SCHEMA } from "./0021-rate-limits.ts";
import { KEY_SETTINGS_SCHEMA } from "./0022-key-settings.ts";
import { KEY_LAST_FOUR_SCHEMA } from "./0023-key-last-four.ts";
import { RECEIPT_KEYS_SCHEMA } from "./0024-receipt-keys.ts";
import { AUDIT_CARRIED_SCHEMA } from "./0025-audit-carried.ts";
import { STOPPED_ORGANIZATIONS_SCHEMA } from "./0026-stopped-organizations.ts";
import { ACCEPTED_FINDINGS_SCHEMA } from "./0027-accepted-findings.ts";
import { PAGES_SCHEMA } from "./0028-pages.ts";
import { POSTGRES_LEDGER_SCHEMA } from "./postgres/0001-ledger.ts";
import { POSTGRES_PAYMENTS_SCHEMA } from "./postgres/0003-payments.ts";
import { inPostgres } from "./postgres/in-postgres.ts";

/** One step of the schema, to `version`, in one transaction. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** One text for both stores; by dialect if they differ, null if a store needs none. */
type Sources = readonly [version: number, name: string, sql: string | Record<SqlDialect, string | null>][];

const ALL: Sources = [
  [1, "ledger", { sqlite: LEDGER_SCHEMA, postgresql: POSTGRES_LEDGER_SCHEMA }],
  [2, "stream-progress", { sqlite: STREAM_PROGRESS_SCHEMA, postgresql: null }],
  [3, "payments", { sqlite: PAYMENTS_SCHEMA, postgresql: POSTGRES_PAYMENTS_SCHEMA }],
  [4, "journal", JOURNAL_SCHEMA],
  [5, "entitlement notes", ENTITLEMENT_NOTES_SCHEMA],
  [6, "alerts", ALERTS_SCHEMA],
  [7, "breakers", BREAKERS_SCHEMA],
  [8, "journal keys", JOURNAL_KEYS_SCHEMA],
  [9, "audit origin", AUDIT_ORIGIN_SCHEMA],
  [10, "device logins", DEVICE_LOGINS_SCHEMA],
  [11, "uses and waits", USES_AND_WAITS_SCHEMA],
  [12, "asked", ASKED_SCHEMA],
  [13, "dispute moves", DISPUTE_MOVES_SCHEMA],
  [14, "quarantine", QUARANTINE_SCHEMA],
  [15, "key makers", KEY_MAKERS_SCHEMA],
  [16, "entitlement look-ups", ENTITLEMENT_LOOK_UPS_SCHEMA],
  [17, "lowered holds", LOWERED_HOLDS_SCHEMA],
  [18, "key look-ups", KEY_LOOK_UPS_SCHEMA],
  [19, "usage classes", USAGE_CLASSES_SCHEMA],
  [20, "surfaces", SURFACES_SCHEMA],
  [21, "rate limits", RATE_LIMITS_SCHEMA],
  [22, "key settings", KEY_SETTINGS_SCHEMA],
  [23, "key last four", KEY_LAST_FOUR_SCHEMA],
  [24, "receipt keys", RECEIPT_KEYS_SCHEMA],
  [25, "audit carried", AUDIT_CARRIED_SCHEMA],
  [26, "stopped organizations", STOPPED_ORGANIZATIONS_SCHEMA],
  [27, "accepted findings", ACCEPTED_FINDINGS_SCHEMA],
  [28, "pages", PAGES_SCHEMA],
];

const ofStore = (dialect: SqlDialect): Migration[] =>
  ALL.flatMap(([version, name, sql]) => {
    if (typeof sql === "string")
      return [{ version, name, sql: dialect === "postgresql" ? inPostgres(sql) : sql }];
    const own = sql[dialect];
    return own === null ? [] : [{ version, name, sql: own }];
  });

/** In the order in which they run. */
export const MIGRATIONS: Readonly<Record<SqlDialect, readonly Migration[]>> = {
  sqlite: ofStore("sqlite"),
  postgresql: ofStore("postgresql"),
};

/** The schema version that this program knows; the same for both stores. */
export const NEWEST_SCHEMA = MIGRATIONS.sqlite.at(-1)?.version ?? 0;

/** Returns the SHA-256 of its text in hex, which shows whether it was edited since it ran. */
export const checksumOf = ({ sql }: Migration): string => createHash("sha256").update(sql).digest("hex");

/**
 * Returns the migrations that a database still needs. `applied`: the checksums that it was made with, by version.
 * Throws `StoreFailure` for a database that is newer than the program, or whose migrations were edited since.
 */
export function unapplied(
  migrations: readonly Migration[],
  applied: ReadonlyMap<number, { checksum: string }>,
): Migration[] {
  const [newest, found] = [migrations.at(-1)?.version ?? 0, Math.max(0, ...applied.keys())];
  if (found > newest)
    throw new StoreFailure(
      "newer_schema",
      `the database has schema ${found}, this program knows ${newest}`,
      "start the newer program, or restore a backup",
    );
  for (const migration of migrations) {
    const checksum = applied.get(migration.version)?.checksum;
    if (checksum !== undefined && checksum !== checksumOf(migration))
      throw new StoreFailure(
        "changed_migration",
        `migration ${migration.version} (${migration.name}) differs from the one this database was made with`,
        "use the program it came from",
      );
  }
  return migrations.filter(({ version }) => !applied.has(version));
}
