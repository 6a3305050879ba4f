// Work that nobody waits for: what repeats, what ticks, what is done on the side. None of it can end the process, and none
// stops without a word: a failure is counted under the job's name, told once per run, and the job goes on
// (docs/decisions/0020-one-bad-record.md). `setInterval` stands nowhere else in `src` (scripts/floors.ts).
import { every, type Repeating } from "./every.ts";
import { messageOf } from "../domain/error-message.ts";

/** A run that takes longer is told of: a job that waits for ever is as silent as one that died. */
const LONG_RUN_MS = 10 * 60_000;

export interface JobsPorts {
  /** Told of each failure. May throw: nothing comes of it. */
  tell(job: string, error: unknown): void;
  /** What is no failure of the job, like a store that is away and has a line of its own. */
  expected?(error: unknown): boolean;
}

/** Every timer of the process that repeats, by name; `failures` is what the metrics and the platform page show. */
export class Jobs {
  private readonly counts = new Map<string, number>();
  /** Of all work that repeats. */
  readonly names = new Set<string>();

  constructor(private readonly on: JobsPorts) {}

  /** Failed runs by job, since the start. */
  get failures(): ReadonlyMap<string, number> {
    return this.counts;
  }

  /** Counts and tells. Never throws. */
  failed(job: string, error: unknown): void {
    try {
      if (this.on.expected?.(error) === true) return;
      this.counts.set(job, (this.counts.get(job) ?? 0) + 1);
      this.on.tell(job, error);
    } catch {
      // Who cannot be told is not told; the count has it.
    }
  }

  /** Repeats `task` with a pause between the end of a run and the next; a run may ask for another pause after it. */
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

  /** Begins work whose end nobody waits for. */
  run(job: string, work: () => unknown): void {
    try {
      const begun: unknown = work();
      if (begun instanceof Promise) begun.catch((error: unknown) => this.failed(job, error));
    } catch (error) {
      this.failed(job, error);
    }
  }

  /** The same as a callback: for timers and events. */
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

/** For programs without a log: each failure is a line on stderr. */
export const jobsOnStderr = (): Jobs =>
  new Jobs({
    tell: (job, error) => void process.stderr.write(`${job}: ${messageOf(error)}\n`),
  });
