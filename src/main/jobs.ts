// What becomes of background work that fails: a line in the log and a count in the metrics, never the end of the process
// (docs/decisions/0020-one-bad-record.md).
import { isOverloaded } from "../domain/overloaded.ts";
import { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";

/** A store that is away is no failure of whoever asked it: `tellOutages` has one line for all of them. */
export const jobsOn = (log: Log): Jobs =>
  new Jobs({
    tell: (job, error) => log.error({ job, err: error }, "a background job failed; the gateway continues"),
    expected: isOverloaded,
  });

/**
 * The net below all jobs: what was thrown where nobody waits for it. The process goes on, because one request's fault must
 * not end everybody's; money does not depend on what was in memory.
 */
export function catchStrays(jobs: Jobs): void {
  process.on("unhandledRejection", (error) => jobs.failed("unhandled_rejection", error));
  process.on("uncaughtException", (error) => jobs.failed("uncaught_exception", error));
}
