// The ledger's upkeep: ends requests whose owner has given up, and deletes what has expired: stored
// answers after their retention, claims after their tombstone (money.md §8.10, §9, I13, I17). Nothing
// about money or replay depends on when it runs: expiry is decided by the clock at lookup.
import type { Database } from "bun:sqlite";
import type { Repeating } from "../../lib/every.ts";
import type { Jobs } from "../../lib/jobs.ts";
import { type StepPorts, stepsOf } from "../upkeep-steps.ts";
import { BETWEEN_RUNS_MS, ROWS_PER_RUN, RUNS_BETWEEN_MENDINGS } from "../upkeep-pace.ts";

export interface SweepPorts extends StepPorts {
  jobs: Jobs;
  writer(): Database;
  nowMs(): number;
  /** Ends requests that are past their deadline and no longer have an owner. */
  resolveLate(): Promise<void>;
  /** Corrects the number of running requests of each limit. */
  mendLimits(): Promise<unknown>;
  /** Loads the stopped organizations. */
  readStops(): Promise<void>;
  /** Called when a run has ended. */
  swept(nowMs: number): void;
  everyMs: number;
}

/** Deletes some expired rows. Returns true if there may be more. */
function deleteExpired(database: Database, nowMs: number): boolean {
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

/** Sweeps periodically until it is stopped; waits while the store takes no writes. */
export function keepSweeping(ports: SweepPorts): Repeating {
  const step = stepsOf(ports);
  let runs = 0;
  return ports.jobs.every("ledger_sweep", ports.everyMs, async () => {
    await step("ledger_recovery", () => ports.resolveLate());
    await step("ledger_stops", () => ports.readStops());
    runs += 1; // the start has already corrected them
    if (runs % RUNS_BETWEEN_MENDINGS === 0) await step("ledger_limits", () => ports.mendLimits());
    const more = await step("ledger_retention", () => deleteExpired(ports.writer(), ports.nowMs()));
    if (ports.ready()) ports.swept(ports.nowMs());
    return more === true ? BETWEEN_RUNS_MS : undefined;
  });
}
