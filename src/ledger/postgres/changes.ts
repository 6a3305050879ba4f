// Changes beside the money path on PostgreSQL: each a short transaction of its own that locks what it changes first, so
// that admissions on every gateway come before it or after it, and runs again when it met another, or when its connection
// was gone before it asked for the commit (money.md §7, §10). Of one organization they stand in line here, not at its lock:
// there they would take all connections of the pool, and come before every batch that its admissions are in.
import type { Pool, PoolClient } from "pg";
import { overloaded } from "../../domain/overloaded.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Lines } from "../../lib/lines.ts";
import { errorKind } from "../../store/postgres-error.ts";
import { runOnPostgres } from "../../store/postgres-sql.ts";
import type { Changing, Work } from "../ledger.ts";
import { int } from "../cell.ts";
import { DATABASE_NOW } from "./lease.ts";
import { askOnce } from "./query.ts";

/** Two that meet need a few tries; one that meets a commit which waits for its standby has none to win. */
const TRIES = 5;
const TRY_WITHIN_MS = 3_000;
/** Nobody waits longer for a standby that does not confirm; the server sets no limit to that wait. */
const COMMIT = { text: "COMMIT", query_timeout: 4_000 };

export interface ChangePorts {
  pool: Pick<Pool, "connect">;
  /** What rows are stamped with: the database's clock when null. */
  stamps: Clock | null;
  /** Organizations are their places. */
  lines: Lines;
}

/** What became of one try. */
interface Try {
  /** It had a connection. */
  begun: boolean;
  /** It may have happened, whatever is said of it. */
  committing: boolean;
}

/**
 * Runs `work` in a transaction of its own, again when it met another. Once again, too, when the connection was lost under
 * it: one of a pool may have been gone for long, and the server ends one whose process was held for a second.
 */
export function change<T>(on: ChangePorts, of: Changing | null, work: Work<T>): Promise<T> {
  const askedMs = performance.now();
  if (of === null) return tried(on, work, askedMs);
  return on.lines.run({ place: of.organizationId, by: of.by }, () => tried(on, work, askedMs));
}

async function tried<T>(on: ChangePorts, work: Work<T>, askedMs: number): Promise<T> {
  if (performance.now() - askedMs > TRY_WITHIN_MS) throw overloaded();
  for (let tries = 1; ; tries += 1) {
    const run: Try = { begun: false, committing: false };
    try {
      return await once(on, work, run);
    } catch (error) {
      const kind = errorKind(error);
      const late = performance.now() - askedMs > TRY_WITHIN_MS;
      if (kind === "store" && run.begun && !run.committing && tries === 1 && !late) continue;
      if (kind === "store" || (kind === "conflict" && (late || tries === TRIES))) throw overloaded(error);
      // Two that make the same thing at once: the second finds it made.
      const again = kind === "conflict" || (error as { code?: string }).code === "23505";
      if (!again || tries === TRIES) throw error;
    }
  }
}

async function once<T>({ pool, stamps }: ChangePorts, work: Work<T>, run: Try): Promise<T> {
  const client: PoolClient = await pool.connect();
  run.begun = true;
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const [row] = await askOnce(client, `SELECT ${DATABASE_NOW}`);
    const result = await runOnPostgres(client, work(stamps?.nowMs() ?? int(row?.[0])));
    run.committing = true;
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
