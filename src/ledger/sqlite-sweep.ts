// The ledger's upkeep: ends requests whose owner has given up, and deletes what has outlived its promise: stored answers
// after their retention, claims after their tombstone (money.md §8.10, §9, I13, I17). Nothing about money or replay
// depends on when it runs: expiry is decided by the clock at look-up.
import type { Database } from "bun:sqlite";
import { Refusal } from "../contract/refusals.ts";
import { isStoreFailure } from "./sqlite-commit.ts";

/** Few rows per run, so that no request waits behind it. */
const ROWS_PER_RUN = 500;
const BETWEEN_RUNS_MS = 20;

export interface SweepPorts {
  writer(): Database;
  nowMs(): number;
  /** False while the store takes no writes. */
  ready(): boolean;
  /** Ends what is past its deadline and has no owner any more. */
  resolveLate(): Promise<void>;
  /** Told when a run has ended. */
  swept(nowMs: number): void;
  everyMs: number;
}

/** Deletes some of what has expired. Returns whether there may be more. */
export function deleteExpired(database: Database, nowMs: number): boolean {
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
export function keepSweeping(ports: SweepPorts): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let stopped = false;
  const later = (ms: number): void => {
    if (stopped) return;
    timer = setTimeout(() => void run(), ms);
    timer.unref();
  };
  const run = async (): Promise<void> => {
    let more = false;
    try {
      if (ports.ready()) await ports.resolveLate();
      if (ports.ready() && !stopped) {
        more = deleteExpired(ports.writer(), ports.nowMs());
        ports.swept(ports.nowMs());
      }
    } catch (error) {
      // A store that is down is tried again with the next run.
      if (!isStoreFailure(error) && !(error instanceof Refusal)) throw error;
    }
    later(more ? BETWEEN_RUNS_MS : ports.everyMs);
  };
  later(ports.everyMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
