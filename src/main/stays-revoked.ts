// What was revoked stays revoked over a restore of a backup that is older than that: a revocation is permanent (specification 3).
// It is read in the store that the backup replaces, with its lines of the audit log.
import { Database } from "bun:sqlite";

interface Revocable {
  table: string;
  /** The column of its identifier. */
  id: string;
  /** The lines that tell of its end, as SQL. */
  actions: string;
  /** What else the end sets, as SQL. */
  also: string;
}

const REVOCABLES: readonly Revocable[] = [
  { table: "api_key", id: "key_id", actions: "'key.revoke', 'key.expire'", also: "" },
  { table: "management_key", id: "id", actions: "'management_key.revoke'", also: "" },
  { table: "entitlement", id: "id", actions: "'entitlement.revoke'", also: ", state = 'revoked'" },
];

/**
 * Revokes in a backup's copy what is revoked in the store at `replaced`: keys, management keys and entitlements. Answers how many.
 * Throws where SQLite cannot read that store; the copy is as it was then.
 */
export function keepRevoked(copy: Database, replaced: string): number {
  const store = new Database(replaced, { readonly: true, safeIntegers: true });
  try {
    const keep = copy.transaction(() =>
      REVOCABLES.reduce((kept, revocable) => kept + keepRevokedOf(revocable, { copy, store }), 0),
    );
    return keep();
  } finally {
    store.close();
  }
}

function keepRevokedOf(revocable: Revocable, { copy, store }: { copy: Database; store: Database }): number {
  const { table, id, actions, also } = revocable;
  const resumed = pauses(copy, table) ? ", paused_at = NULL" : "";
  const revoke = copy.query(
    `UPDATE ${table} SET revoked_at = ?2${resumed}${also} WHERE ${id} = ?1 AND NOT (${revokedIn(copy, table)})`,
  );
  const tell = teller({ copy, store }, actions);
  const ended = store
    .query<[string, bigint], []>(`SELECT ${id}, revoked_at FROM ${table} WHERE ${revokedIn(store, table)}`)
    .values() as [string, bigint][];
  let kept = 0;
  for (const [name, revokedAt] of ended) {
    if (revoke.run(name, revokedAt).changes === 0) continue;
    tell(name);
    kept += 1;
  }
  return kept;
}

/** Adds the replaced store's lines about one target, with what both know of a line. */
function teller(
  { copy, store }: { copy: Database; store: Database },
  actions: string,
): (target: string) => void {
  const known = columnsOf(copy, "audit_log");
  const columns = columnsOf(store, "audit_log").filter((name) => name !== "seq" && known.includes(name));
  const lines = store.query(
    `SELECT ${columns.join(", ")} FROM audit_log WHERE target = ?1 AND action IN (${actions}) ORDER BY seq`,
  );
  const add = copy.query(
    `INSERT INTO audit_log (${columns.join(", ")}) VALUES (${columns.map((_, nth) => `?${nth + 1}`).join(", ")})`,
  );
  return (target) => {
    for (const line of lines.values(target)) add.run(...(line as string[]));
  };
}

/** A key that is paused has its instant in `revoked_at`, too (migration 22). */
const revokedIn = (database: Database, table: string): string =>
  pauses(database, table) ? "revoked_at IS NOT NULL AND paused_at IS NULL" : "revoked_at IS NOT NULL";

const pauses = (database: Database, table: string): boolean =>
  columnsOf(database, table).includes("paused_at");

const columnsOf = (database: Database, table: string): string[] =>
  database
    .query("SELECT name FROM pragma_table_info(?1)")
    .values(table)
    .map(([name]) => String(name));
