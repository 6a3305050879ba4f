// How many lines the log has of requests that nobody pays for: so many in a window, and of the rest how many there were. A
// flood of wrong keys would fill a disk, or use up what the system's journal takes of everybody else.

const LINES = 1_000;
const WINDOW_MS = 10_000;

/** One quota for all callers; what a window left out is told when the next one begins, or at the end. */
export class LineQuota {
  private startedAtMs = Number.NEGATIVE_INFINITY;
  private written = 0;
  private readonly leftOut = new Map<number, number>();

  /** `tell`: of a window that is over, how many requests had no line, by status. */
  constructor(private readonly tell: (leftOut: Readonly<Record<string, number>>) => void) {}

  /** Whether a request that was answered so has a line. */
  takes(status: number, nowMs: number): boolean {
    // A clock that was set back begins anew, too.
    if (nowMs - this.startedAtMs >= WINDOW_MS || nowMs < this.startedAtMs) this.begin(nowMs);
    if (this.written < LINES) {
      this.written += 1;
      return true;
    }
    this.leftOut.set(status, (this.leftOut.get(status) ?? 0) + 1);
    return false;
  }

  /** The end of the process. */
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
