// Keeps what was revoked after a backup was made revoked when it is restored: a revocation is permanent
// (specification 3).
import { addLines, columnNames, type Restoring } from "./restoring.ts";

interface Revocable {
  table: string;
  /** The column of its identifier. */
  id: string;
  /** The audit actions that record its end. */
  actions: readonly string[];
  /** What else is set at its end, as SQL. */
  also: string;
}

const REVOCABLES: readonly Revocable[] = [
  { table: "api_key", id: "key_id", actions: ["key.revoke", "key.expire"], also: "" },
  { table: "management_key", id: "id", actions: ["management_key.revoke"], also: "" },
  { table: "entitlement", id: "id", actions: ["entitlement.revoke"], also: ", state = 'revoked'" },
];

/**
 * Revokes in the backup's copy what is revoked in the replaced store: keys, management keys and entitlements.
 * Returns how many.
 */
export const keepRevoked = (on: Restoring): number =>
  REVOCABLES.reduce((kept, revocable) => kept + keepRevokedOf(revocable, on), 0);

function keepRevokedOf({ table, id, actions, also }: Revocable, on: Restoring): number {
  const resumed = pauses(on.copy, table) ? ", paused_at = NULL" : "";
  const revoke = on.copy.query(
    `UPDATE ${table} SET revoked_at = ?2${resumed}${also} WHERE ${id} = ?1 AND NOT (${revokedIn(on.copy, table)})`,
  );
  const ended = on.replaced
    .query(`SELECT ${id}, revoked_at FROM ${table} WHERE ${revokedIn(on.replaced, table)}`)
    .values() as [string, bigint][];
  const kept = ended.filter(([name, revokedAt]) => revoke.run(name, revokedAt).changes > 0);
  addLines(on, { targets: kept.map(([name]) => name), actions });
  return kept.length;
}

/** A paused key has an instant in `revoked_at`, too (migration 22). */
const revokedIn = (database: Restoring["copy"], table: string): string =>
  pauses(database, table) ? "revoked_at IS NOT NULL AND paused_at IS NULL" : "revoked_at IS NOT NULL";

const pauses = (database: Restoring["copy"], table: string): boolean =>
  columnNames(database, table).includes("paused_at");
