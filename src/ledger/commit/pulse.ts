// Recent speed of the store: how long the last commits took and how many operations they carried. A
// ring that is written once per commit and sorted only when it is read.
import { Histogram } from "../../lib/histogram.ts";

const KEPT = 1_024;
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const OPERATIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Figures of the last commits are null before the first one. Durations are in milliseconds, those of `since` in seconds. */
export interface LedgerPulse {
  /** The number of operations waiting for a commit right now. */
  waiting: number;
  /** The number of recent commits that the figures cover. */
  commits: number;
  operationsPerCommit: { mean: number; most: number } | null;
  commitMs: { p50: number; p99: number } | null;
  /** When the ledger's upkeep last ended. */
  sweptAtMs: number | null;
  /** The number of requests in quarantine at that time. */
  quarantined: number;
  /** The number of organizations whose paid calls are refused because their books do not add up, at that time. */
  stopped: number;
  /** Over all commits since the start: seconds each took, operations each carried, seconds that its first operation waited. */
  since: { took: Histogram; carried: Histogram; waited: Histogram };
}

/** Figures of the last 1,024 commits of this process; durations are in milliseconds. */
export class Pulse {
  private readonly since: LedgerPulse["since"] = {
    took: new Histogram(SECONDS),
    carried: new Histogram(OPERATIONS),
    waited: new Histogram(SECONDS),
  };
  private readonly ms = new Float64Array(KEPT);
  private readonly operations = new Uint32Array(KEPT);
  private seen = 0;
  private sweptAtMs: number | null = null;
  private quarantined = 0;
  private stopped = 0;

  /** `waitedMs` is how long the batch's first operation had waited for it. */
  committed(operations: number, ms: number, waitedMs: number): void {
    this.since.took.observe(ms / 1000);
    this.since.carried.observe(operations);
    this.since.waited.observe(waitedMs / 1000);
    const place = this.seen % KEPT;
    this.ms[place] = ms;
    this.operations[place] = operations;
    this.seen += 1;
  }

  swept(nowMs: number): void {
    this.sweptAtMs = nowMs;
  }

  foundQuarantined(count: number): void {
    this.quarantined = count;
  }

  foundStopped(count: number): void {
    this.stopped = count;
  }

  read(waiting: number): LedgerPulse {
    const commits = Math.min(this.seen, KEPT);
    const { sweptAtMs, quarantined, stopped, since } = this;
    const found = { sweptAtMs, quarantined, stopped, since };
    if (commits === 0) return { waiting, commits, operationsPerCommit: null, commitMs: null, ...found };
    const ms = this.ms.slice(0, commits).toSorted();
    const at = (share: number): number => ms[Math.min(commits - 1, Math.floor(commits * share))] ?? 0;
    const operations = this.operations.subarray(0, commits);
    return {
      waiting,
      commits,
      operationsPerCommit: {
        mean: operations.reduce((sum, one) => sum + one, 0) / commits,
        most: operations.reduce((most, one) => Math.max(most, one), 0),
      },
      commitMs: { p50: at(0.5), p99: at(0.99) },
      ...found,
    };
  }
}
