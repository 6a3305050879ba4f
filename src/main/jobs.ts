// Handles failures of background work: a line in the log and a count in the metrics, never the end of the
// process (docs/decisions/0020-one-bad-record.md).
import { isOverloaded } from "../domain/overloaded.ts";
import { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";

/** An unreachable store is not the job's failure: `tellOutages` logs one line for all of them. */
export const jobsOn = (log: Log): Jobs =>
  new Jobs({
    tell: (job, error) => log.error({ job, err: error }, "a background job failed; the gateway continues"),
    expected: isOverloaded,
  });

/**
 * The safety net below all jobs: errors thrown where nobody awaits them. The process continues, because one
 * request's fault must not end everybody's; money does not depend on what was in memory.
 */
export function catchStrays(jobs: Jobs): void {
  process.on("unhandledRejection", (error) => jobs.failed("unhandled_rejection", error));
  process.on("uncaughtException", (error) => jobs.failed("uncaught_exception", error));
}
