// Deletes what has outlived its promise: stored answers after their retention, claims after their tombstone (money.md
// §8.10, I17). Nothing depends on when it runs: expiry is decided by the clock at look-up.
import type { Database } from "bun:sqlite";

/** Few rows per run, so that no request waits behind it. */
const ROWS_PER_RUN = 500;
const BETWEEN_RUNS_MS = 20;
const EVERY_MS = 60_000;

/** Returns whether there may be more. */
export function sweep(database: Database, nowMs: number): boolean {
  const results = database.run(
    `DELETE FROM result WHERE rowid IN (SELECT rowid FROM result WHERE expires_at <= ?1 LIMIT ${ROWS_PER_RUN})`,
    [nowMs],
  );
  const claims = database.run(
    `DELETE FROM claim WHERE (org_id, key_id, idem_key) IN
       (SELECT org_id, key_id, idem_key FROM claim WHERE expires_at <= ?1 LIMIT ${ROWS_PER_RUN})`,
    [nowMs],
  );
  return results.changes === ROWS_PER_RUN || claims.changes === ROWS_PER_RUN;
}

/** Sweeps now and then until the returned function is called; waits while the store takes no writes. */
export function keepSweeping(ports: { writer(): Database; nowMs(): number; ready(): boolean }): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const run = (): void => {
    const more = ports.ready() && sweep(ports.writer(), ports.nowMs());
    timer = setTimeout(run, more ? BETWEEN_RUNS_MS : EVERY_MS);
    timer.unref();
  };
  timer = setTimeout(run, EVERY_MS);
  timer.unref();
  return () => clearTimeout(timer);
}
