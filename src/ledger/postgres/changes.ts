// Changes outside the money path on PostgreSQL. Each is a short transaction of its own that first locks what it
// changes, so that admissions on every gateway come before it or after it. It is retried after a conflict, or if its
// connection was lost before it asked for the commit (money.md §7, §10). Changes of one organization queue here, not
// at its lock: there they would take all connections of the pool, and come before every batch with its admissions.
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

/** Two conflicting changes need a few tries; none can win against a commit that waits for its standby. */
const TRIES = 5;
const TRY_WITHIN_MS = 3_000;
/** The longest wait for a standby that does not confirm; the server itself sets no limit. */
const COMMIT = { text: "COMMIT", query_timeout: 4_000 };

export interface ChangePorts {
  pool: Pick<Pool, "connect">;
  /** The clock that rows are stamped with; null for the database's clock. */
  stamps: Clock | null;
  /** One line per organization. */
  lines: Lines;
}

/** The progress of one try. */
interface Try {
  /** True once it had a connection. */
  begun: boolean;
  /** True once it may have happened, whatever error is returned. */
  committing: boolean;
}

/**
 * Runs `work` in its own transaction and retries after a conflict. Also retries once if the connection was lost during it:
 * a pooled connection may have been dead for long, and the server closes one whose process was suspended for a second.
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
      // Two transactions created the same thing at the same time: the retry finds it.
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
