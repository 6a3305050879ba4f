// The fence of `db move`: while a store is being moved, no gateway can open the old place or the new one, so that
// at most one of them is ever in use (docs/decisions/0021-a-move-is-fenced.md). It is stored among the migrations
// of both, as a version that no program reaches: older programs refuse such a store as one of a newer program.
import type { Database } from "bun:sqlite";
import type { ClientBase } from "pg";
import { StoreFailure } from "./store-failure.ts";

/** The version of a store that is being moved, and of a database that took one in. */
const MOVING = 1_000_000_000;
const MOVED = -1;

export interface Fence {
  /** The id of the move: the same in both places. */
  id: string;
  /** The place it moves to, or comes from; no secrets. */
  place: string;
}

/** `applied`: version → checksum and name, as both stores read them. Removes the fence; throws for all but the mover. */
export function passFence(
  applied: Map<number, { checksum: string; name: string }>,
  mover: string | null,
): void {
  const fence = applied.get(MOVING);
  applied.delete(MOVING);
  applied.delete(MOVED);
  if (fence === undefined || fence.checksum === mover) return;
  if (fence.name.startsWith(ABANDONED)) throw new StoreFailure("moving", LEFTOVERS, ANOTHER);
  throw new StoreFailure("moving", fence.name, WAY_OUT);
}

/** For either store of an unfinished move. */
export const WAY_OUT =
  "run the same ./tollgate db move --to … again to finish it, or ./tollgate db move --to … --abandon to cancel it";
const TO = "this store is being moved to ";
const FROM = "a store is being moved into this database, from ";
const ABANDONED = "abandoned ";
const LEFTOVERS = "this database contains the remains of a cancelled move, so it cannot be used";
const ANOTHER = "drop and recreate it, or name another empty database";

// ── The old place ───────────────────────────────────────────────────────────────────────────────────────────────

/** Returns the move that has begun here; null if none has. */
export function sourceFence(database: Database): Fence | null {
  const [table] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'").values();
  if (table === undefined) return null;
  const [row] = database
    .query(`SELECT checksum, name FROM schema_migration WHERE version = ${MOVING}`)
    .values() as [string, string][];
  return row === undefined ? null : { id: row[0], place: row[1].slice(TO.length) };
}

/** Durable when it returns. */
export function fenceSource(database: Database, { id, place }: Fence): void {
  database
    .query("INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)")
    .run(MOVING, TO + place, id, Date.now());
}

/** Durable when it returns: gateways can open the store again. */
export function liftSource(database: Database): void {
  database.run(`DELETE FROM schema_migration WHERE version = ${MOVING}`);
}

// ── The new place ───────────────────────────────────────────────────────────────────────────────────────────────

/** The progress of a move at its target. `taken`: the database belongs to another move, or to one that was given up. */
export type MoveArrival = "unknown" | "moving" | "moved" | "abandoned" | "taken";

/** `id` is that of the move that asks. */
export async function arrivalOf(target: ClientBase, id: string): Promise<MoveArrival> {
  const { rows } = await target.query<{ version: string | bigint; checksum: string }>(
    `SELECT version, checksum FROM schema_migration WHERE version IN (${MOVING}, ${MOVED})`,
  );
  const moving = rows.find(({ version }) => Number(version) === MOVING)?.checksum;
  if (moving === id) return "moving";
  if (moving === ABANDONED + id) return "abandoned";
  if (moving !== undefined) return "taken";
  return rows.some(({ checksum }) => checksum === id) ? "moved" : "unknown";
}

/** Call inside a transaction: after its commit no gateway can open the database. */
export async function fenceTarget(target: ClientBase, { id, place }: Fence): Promise<void> {
  await target.query(
    "INSERT INTO schema_migration (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
    [MOVING, FROM + place, id, Date.now()],
  );
}

/** From its commit on the database may be used. Throws if it is already in use. */
export async function openTarget(target: ClientBase, id: string): Promise<void> {
  await target.query("BEGIN");
  try {
    await assertUnused(target);
    const { rowCount } = await target.query(
      `UPDATE schema_migration SET version = ${MOVED} WHERE version = ${MOVING} AND checksum = $1`,
      [id],
    );
    if (rowCount !== 1) throw new Error("the move was cancelled in the meantime");
    await target.query("COMMIT");
  } catch (error) {
    await target.query("ROLLBACK").catch(() => {}); // the connection is gone with its transaction
    throw error;
  }
}

/** What was copied so far is never used: the database stays closed for good. Returns false if it is not ours, or complete. */
export async function abandonTarget(target: ClientBase, id: string): Promise<boolean> {
  const { rowCount } = await target.query(
    `UPDATE schema_migration SET checksum = $2 || checksum, name = $2 || name
     WHERE version = ${MOVING} AND checksum = $1`,
    [id, ABANDONED],
  );
  return rowCount === 1;
}

/** Throws if a gateway has it open; none can open it once its fence is up. */
export async function assertUnused(target: ClientBase): Promise<void> {
  const { rows: made } = await target.query("SELECT 1 WHERE to_regclass('instance') IS NOT NULL");
  if (made.length === 0) return; // nothing of ours is in it yet
  const { rows } = await target.query(
    "SELECT name FROM instance WHERE lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint LIMIT 1",
  );
  if (rows.length > 0)
    throw new StoreFailure(
      "database",
      `a gateway is running on the database (${String((rows[0] as { name: unknown }).name)})`,
      "stop it, or name an empty database",
    );
}
