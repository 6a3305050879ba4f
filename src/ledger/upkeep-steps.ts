// How the upkeep of either store goes through its steps: each by itself, none kept from its work by another that failed.
import type { Jobs } from "../lib/jobs.ts";

export interface StepPorts {
  jobs: Pick<Jobs, "failed">;
  /** False while the store takes no writes: what comes then is left to the next run. */
  ready(): boolean;
  /** Whether the store failed, not the step: it is tried again with the next run, and has a line of its own. */
  isStoreFailure(error: unknown): boolean;
}

/** Runs one step under the name of its job; answers null where it was left out or failed. */
type Step = <T>(job: string, work: () => T | Promise<T>) => Promise<T | null>;

/** Steps that never throw: what fails in one is told as a failure of its job. */
export const stepsOf =
  (ports: StepPorts): Step =>
  async (job, work) => {
    if (!ports.ready()) return null;
    try {
      return await work();
    } catch (error) {
      if (!ports.isStoreFailure(error)) ports.jobs.failed(job, error);
      return null;
    }
  };
