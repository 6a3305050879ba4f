// Bounds the log lines of requests that nobody pays for: a number per window, and a count of the rest. A flood of wrong keys would
// otherwise fill a disk, or use up the system journal's allowance for everybody else.

const LINES = 1_000;
const WINDOW_MS = 10_000;

/** One quota for all callers; what a window left out is reported when the next one begins, or at the end. */
export class LineQuota {
  private startedAtMs = Number.NEGATIVE_INFINITY;
  private written = 0;
  private readonly leftOut = new Map<number, number>();

  /** `tell`: called for a window that is over, with the number of requests without a line, by status. */
  constructor(private readonly tell: (leftOut: Readonly<Record<string, number>>) => void) {}

  /** Whether a request with this status gets a line. */
  takes(status: number, nowMs: number): boolean {
    // Also begins a new window if the clock was set back.
    if (nowMs - this.startedAtMs >= WINDOW_MS || nowMs < this.startedAtMs) this.begin(nowMs);
    if (this.written < LINES) {
      this.written += 1;
      return true;
    }
    this.leftOut.set(status, (this.leftOut.get(status) ?? 0) + 1);
    return false;
  }

  /** Reports the last window at the end of the process. */
  close(): void {
    this.begin(Number.NEGATIVE_INFINITY);
  }

  private begin(nowMs: number): void {
    this.startedAtMs = nowMs;
    this.written = 0;
    if (this.leftOut.size > 0) this.tell(Object.fromEntries(this.leftOut));
    this.leftOut.clear();
  }
}
