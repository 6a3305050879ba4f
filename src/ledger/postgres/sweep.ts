// Periodic upkeep that every gateway on a database does; safe to run twice and safe to kill. It ends requests
// without an owner, deletes what has expired, and prepares the coming months (money.md §8.10, §9, I13, I17).
import { Refusal } from "../../domain/refusals.ts";
import type { Repeating } from "../../lib/every.ts";
import type { Jobs } from "../../lib/jobs.ts";
import { errorKind } from "../../store/postgres-error.ts";
import { forgetInstances } from "./lease.ts";
import { type Asking, askOnce } from "./query.ts";
import { makeMonths } from "./months.ts";
import { stepsOf } from "../upkeep-steps.ts";
import { BETWEEN_RUNS_MS, ROWS_PER_RUN, RUNS_BETWEEN_MENDINGS } from "../upkeep-pace.ts";

/** Whatever blocks a month from being created lasts, and charges wait during each try. */
const RUNS_BETWEEN_MONTHS = 3;

export interface SweepPorts {
  jobs: Jobs;
  on: Asking;
  nowMs(): number;
  ready(): boolean;
  /** Settles what earlier processes could not. */
  settleSpooled(): Promise<void>;
  /** Ends requests whose owner is gone. */
  resolveOrphans(): Promise<void>;
  /** Corrects the number of running requests of each limit. */
  mendLimits(): Promise<unknown>;
  /** Loads the stopped organizations, which another gateway may have found. */
  readStops(): Promise<void>;
  /** Called when a run has ended. */
  swept(nowMs: number): void;
  everyMs: number;
}

/** Returns true if there may be more. */
async function deleteExpired(on: Asking, nowMs: number): Promise<boolean> {
  const deleted = await Promise.all(
    Object.entries({ result: "org_id, request_id", claim: "org_id, key_id, idem_key" }).map(([table, key]) =>
      askOnce(
        on,
        `DELETE FROM ${table} WHERE (${key}) IN (
           SELECT ${key} FROM ${table} WHERE expires_at <= $1 LIMIT ${ROWS_PER_RUN} FOR UPDATE SKIP LOCKED)
         RETURNING 1`,
        [nowMs],
      ),
    ),
  );
  return deleted.some(({ length }) => length === ROWS_PER_RUN);
}

/** True if the database is away, or busy with another gateway's sweep: it is asked again in the next run. */
export const refusedByStore = (error: unknown): boolean =>
  error instanceof Refusal || errorKind(error) !== "operation";

/** Sweeps until it is stopped. */
export function keepSweeping(ports: SweepPorts): Repeating {
  const { jobs, on } = ports;
  const step = stepsOf({ jobs, ready: () => ports.ready(), isStoreFailure: refusedByStore });
  let runs = 0;
  let monthsAtRun = 0;
  return jobs.every("ledger_sweep", ports.everyMs, async () => {
    await step("ledger_spool", () => ports.settleSpooled());
    await step("ledger_recovery", () => ports.resolveOrphans());
    await step("ledger_stops", () => ports.readStops());
    if (runs++ % RUNS_BETWEEN_MENDINGS === 0) await step("ledger_limits", () => ports.mendLimits());
    const more = await step("ledger_retention", () => deleteExpired(on, ports.nowMs()));
    await step("ledger_instances", () => forgetInstances(on));
    if (runs >= monthsAtRun && (await step("ledger_months", () => makeMonths(on, ports.nowMs()))) === false)
      monthsAtRun = runs + RUNS_BETWEEN_MONTHS;
    if (ports.ready()) ports.swept(ports.nowMs());
    return more === true ? BETWEEN_RUNS_MS : undefined;
  });
}
