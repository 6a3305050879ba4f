// Runs the upkeep steps of either store: each by itself, so that a failed step does not keep the others from running.
import type { Jobs } from "../lib/jobs.ts";

export interface StepPorts {
  jobs: Pick<Jobs, "failed">;
  /** False while the store takes no writes: the remaining steps are left to the next run. */
  ready(): boolean;
  /** True if the store failed rather than the step: the next run retries, and the store's failure is logged elsewhere. */
  isStoreFailure(error: unknown): boolean;
}

/** Runs one step under the name of its job; returns null if it was skipped or failed. */
type Step = <T>(job: string, work: () => T | Promise<T>) => Promise<T | null>;

/** Returns steps that never throw: a failure is reported under the name of its job. */
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
