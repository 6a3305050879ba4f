// Changes beside the money path on PostgreSQL: each a short transaction of its own that locks what it changes first, so
// that admissions on every gateway come before it or after it, and runs again when it met another (money.md §7, §10).
import type { Pool, PoolClient } from "pg";
import { overloaded } from "../../domain/overloaded.ts";
import type { Clock } from "../../lib/clock.ts";
import { errorKind } from "../../store/postgres-error.ts";
import { runOnPostgres } from "../../store/postgres-sql.ts";
import type { Work } from "../ledger.ts";
import { int } from "../cell.ts";
import { DATABASE_NOW } from "./lease.ts";
import { askOnce } from "./query.ts";

/** Two that meet need a few tries; one that meets a commit which waits for its standby has none to win. */
const TRIES = 5;
const TRY_WITHIN_MS = 3_000;
/** Nobody waits longer for a standby that does not confirm; the server sets no limit to that wait. */
const COMMIT = { text: "COMMIT", query_timeout: 4_000 };

export interface ChangePorts {
  pool: Pool;
  /** What rows are stamped with: the database's clock when null. */
  stamps: Clock | null;
}

/** Runs `work` in a transaction of its own, again when it met another. */
export async function change<T>(on: ChangePorts, work: Work<T>): Promise<T> {
  const beganMs = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await once(on, work);
    } catch (error) {
      const kind = errorKind(error);
      const late = performance.now() - beganMs > TRY_WITHIN_MS;
      if (kind === "store" || (kind === "conflict" && (late || tries === TRIES))) throw overloaded(error);
      // Two that make the same thing at once: the second finds it made.
      const again = kind === "conflict" || (error as { code?: string }).code === "23505";
      if (!again || tries === TRIES) throw error;
    }
  }
}

async function once<T>({ pool, stamps }: ChangePorts, work: Work<T>): Promise<T> {
  const client: PoolClient = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const [row] = await askOnce(client, `SELECT ${DATABASE_NOW}`);
    const result = await runOnPostgres(client, work(stamps?.nowMs() ?? int(row?.[0])));
    await client.query(COMMIT);
    return result;
  } catch (error) {
    if (errorKind(error) === "store") {
      broken = error instanceof Error ? error : new Error(String(error)); // it may not answer a ROLLBACK either
      throw error;
    }
    await client.query("ROLLBACK").catch((rollback: unknown) => {
      broken = rollback instanceof Error ? rollback : new Error(String(rollback));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
