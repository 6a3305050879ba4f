// Work that nobody awaits: repeated tasks, ticks, side work. None of it can end the process, and none stops
// silently: a failure is counted under the job's name, reported once per run, and the job continues
// (docs/decisions/0020-one-bad-record.md). `setInterval` appears nowhere else in `src` (scripts/floors.ts).
import { every, type Repeating } from "./every.ts";
import { messageOf } from "../domain/error-message.ts";

/** A longer run is reported: a job that waits forever is as silent as one that died. */
const LONG_RUN_MS = 10 * 60_000;

export interface JobsPorts {
  /** Receives each failure. May throw: the error is ignored. */
  tell(job: string, error: unknown): void;
  /**
   * True for errors that are not the job's failure, such as an unreachable store, which has a log line of its
   * own.
   */
  expected?(error: unknown): boolean;
}

/**
 * All repeating timers of the process, by name; `failures` is shown in the metrics and on the platform page.
 */
export class Jobs {
  private readonly counts = new Map<string, number>();
  /** The names of all repeated work. */
  readonly names = new Set<string>();

  constructor(private readonly on: JobsPorts) {}

  /** The number of failed runs by job, since the start. */
  get failures(): ReadonlyMap<string, number> {
    return this.counts;
  }

  /** Counts and reports a failure. Never throws. */
  failed(job: string, error: unknown): void {
    try {
      if (this.on.expected?.(error) === true) return;
      this.counts.set(job, (this.counts.get(job) ?? 0) + 1);
      this.on.tell(job, error);
    } catch {
      // Reporting failed, but the failure is counted.
    }
  }

  /**
   * Repeats `task` with a pause between the end of a run and the next; a run may request a different pause
   * after it.
   */
  every(job: string, pauseMs: number, task: () => Promise<number | void>): Repeating {
    this.names.add(job);
    return every(
      pauseMs,
      () => this.watched(job, task),
      (error) => this.failed(job, error),
    );
  }

  /** Calls `task` at each interval until the returned function is called. */
  tick(job: string, everyMs: number, task: () => void): () => void {
    this.names.add(job);
    const timer = setInterval(this.guarded(job, task), everyMs);
    return () => clearInterval(timer);
  }

  /** Starts work that nobody awaits. */
  run(job: string, work: () => unknown): void {
    try {
      const begun: unknown = work();
      if (begun instanceof Promise) begun.catch((error: unknown) => this.failed(job, error));
    } catch (error) {
      this.failed(job, error);
    }
  }

  /** The same as a callback, for timers and events. */
  guarded(job: string, work: () => unknown): () => void {
    return () => this.run(job, work);
  }

  private async watched(job: string, task: () => Promise<number | void>): Promise<number | void> {
    const late = setTimeout(
      this.guarded(job, () =>
        this.failed(job, new Error(`a run has taken longer than ${LONG_RUN_MS / 60_000} min`)),
      ),
      LONG_RUN_MS,
    );
    late.unref();
    try {
      return await task();
    } finally {
      clearTimeout(late);
    }
  }
}

/** For programs without a log: writes each failure as a line to stderr. */
export const jobsOnStderr = (): Jobs =>
  new Jobs({
    tell: (job, error) => void process.stderr.write(`${job}: ${messageOf(error)}\n`),
  });
