// How fast the store has been lately: what the last commits took and carried. A ring that is written once per commit, and
// sorted only when somebody looks.
const KEPT = 1_024;

export interface LedgerPulse {
  /** Operations that wait for a commit right now. */
  waiting: number;
  /** How many of the last commits the figures are of. */
  commits: number;
  operationsPerCommit: { mean: number; most: number } | null;
  commitMs: { p50: number; p99: number } | null;
  /** When the ledger's upkeep last ended. */
  sweptAtMs: number | null;
  /** Requests in quarantine, as of then. */
  quarantined: number;
}

export class Pulse {
  private readonly ms = new Float64Array(KEPT);
  private readonly operations = new Uint32Array(KEPT);
  private seen = 0;
  private sweptAtMs: number | null = null;
  private quarantined = 0;

  committed(operations: number, ms: number): void {
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

  read(waiting: number): LedgerPulse {
    const commits = Math.min(this.seen, KEPT);
    const { sweptAtMs, quarantined } = this;
    if (commits === 0)
      return { waiting, commits, operationsPerCommit: null, commitMs: null, sweptAtMs, quarantined };
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
      sweptAtMs,
      quarantined,
    };
  }
}
