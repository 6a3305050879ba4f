// The timers of one upstream call: first part, idle, total (wire.md §8.1). One timer in all, re-armed only when it fires,
// so that progress costs a clock reading.
import { Failure } from "./failure.ts";

export interface Timeouts {
  connectMs: number;
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
}

export class Watch {
  private readonly controller = new AbortController();
  private readonly startedAtMs = performance.now();
  private movedAtMs = this.startedAtMs;
  private silenceMs: number;
  private timer: ReturnType<typeof setTimeout>;

  constructor(
    private readonly caller: AbortSignal,
    private readonly timeouts: Timeouts,
  ) {
    this.silenceMs = timeouts.firstTokenMs;
    this.timer = setTimeout(this.check, this.leftMs());
    if (caller.aborted) this.followCaller();
    else caller.addEventListener("abort", this.followCaller, { once: true });
  }

  /** For `fetch`. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why the call was cut, if it was. */
  get reason(): Failure | null {
    return this.signal.aborted && this.signal.reason instanceof Failure ? this.signal.reason : null;
  }

  /** Something arrived; from the first part on, the idle time counts. */
  moved(): void {
    this.movedAtMs = performance.now();
    this.silenceMs = this.timeouts.idleMs;
  }

  end(): void {
    clearTimeout(this.timer);
    this.caller.removeEventListener("abort", this.followCaller);
  }

  private readonly check = (): void => {
    const leftMs = this.leftMs();
    if (leftMs > 0) this.timer = setTimeout(this.check, leftMs);
    else this.controller.abort(new Failure("timeout", "unknown", "the upstream was silent for too long"));
  };

  private readonly followCaller = (): void => {
    const { reason } = this.caller;
    this.controller.abort(
      reason instanceof Failure ? reason : new Failure("aborted", "unknown", "the call was cut"),
    );
  };

  private leftMs(): number {
    const now = performance.now();
    const silent = this.movedAtMs + this.silenceMs - now;
    return Math.ceil(Math.min(silent, this.startedAtMs + this.timeouts.totalMs - now));
  }
}
