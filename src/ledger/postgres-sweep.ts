// The upkeep that every gateway on a database does now and then, safe twice and safe when killed: ends requests without
// an owner, deletes what has outlived its promise, makes room for the months to come (money.md §8.10, §9, I13, I17).
import { Refusal } from "../contract/refusals.ts";
import { errorKind } from "../store/postgres-error.ts";
import { forgetInstances } from "./postgres-lease.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { makeMonths } from "./postgres-months.ts";

/** Few rows per run, so that no request waits behind it. */
const ROWS_PER_RUN = 500;
const BETWEEN_RUNS_MS = 20;

export interface SweepPorts {
  on: Asking;
  nowMs(): number;
  ready(): boolean;
  /** Ends requests whose owner is gone. */
  resolveOrphans(): Promise<void>;
  /** Told when a run has ended. */
  swept(nowMs: number): void;
  everyMs: number;
}

/** Returns whether there may be more. */
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

/** Sweeps until the returned function is called, which waits for a run that is under way. */
export function keepSweeping(ports: SweepPorts): () => Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  let stopped = false;
  let running = Promise.resolve();
  const later = (ms: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = run();
    }, ms);
    timer.unref();
  };
  const run = async (): Promise<void> => {
    let more = false;
    try {
      if (ports.ready()) {
        await ports.resolveOrphans();
        more = await deleteExpired(ports.on, ports.nowMs());
        await forgetInstances(ports.on);
        await makeMonths(ports.on, ports.nowMs());
        ports.swept(ports.nowMs());
      }
    } catch (error) {
      // A database that is away, or busy with another's sweep, is asked again with the next run.
      if (errorKind(error) === "operation" && !(error instanceof Refusal)) throw error;
    }
    later(more ? BETWEEN_RUNS_MS : ports.everyMs);
  };
  later(ports.everyMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
