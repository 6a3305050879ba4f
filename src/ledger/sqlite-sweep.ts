// Deletes what has outlived its promise: stored answers after their retention, claims after their tombstone (money.md
// §8.10, I17). Nothing depends on when it runs: expiry is decided by the clock at look-up.
import type { Database } from "bun:sqlite";

/** Few rows per run, so that no request waits behind it. */
const ROWS_PER_RUN = 500;

export function sweep(database: Database, nowMs: number): void {
  database.run(
    `DELETE FROM result WHERE rowid IN (SELECT rowid FROM result WHERE expires_at <= ?1 LIMIT ${ROWS_PER_RUN})`,
    [nowMs],
  );
  database.run(
    `DELETE FROM claim WHERE (org_id, key_id, idem_key) IN
       (SELECT org_id, key_id, idem_key FROM claim WHERE expires_at <= ?1 LIMIT ${ROWS_PER_RUN})`,
    [nowMs],
  );
}
