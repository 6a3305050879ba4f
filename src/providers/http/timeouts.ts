// The timers of one upstream call: first part, idle, total (wire.md §8.1). Only time in which we wait for the
// upstream counts as its silence; time spent on a slow consumer does not. There is a single timer, re-armed when it
// fires, so progress costs only a clock reading.
import { Failure } from "../failure.ts";
import type { CallSignal } from "../provider.ts";

export interface Timeouts {
  connectMs: number;
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
}

/** After the last finish only usage and the terminator are awaited; after the usage, only the terminator. */
const USAGE_MS = 5000;
const TERMINATOR_MS = 1000;
/**
 * A timer is this late only if the thread was blocked: by a locked store, a frozen process. Data that arrived
 * meanwhile is pending.
 */
const HELD_MS = 50;
/** The time to read that data. */
const CATCH_UP_MS = 250;
/** The maximum in a row: if every timer came late, silence would never be noticed. */
const CATCH_UPS_MAX = 4;

const OPEN = { finishMs: null, usageMs: null };

/** The timers of one call; all durations in milliseconds, on the monotonic clock. */
export class CallTimeouts {
  private readonly controller = new AbortController();
  private readonly startedAtMs = performance.now();
  private waitingSinceMs = this.startedAtMs;
  /** False while the consumer has the parts. */
  private waiting = true;
  /** True once a part has come. */
  private spoke = false;
  private silenceMs: number;
  private lentAtMs = 0;
  /**
   * Monotonic times at which the last finish and the usage were read; from then on nothing extends the time that is
   * left.
   */
  private closed: { finishMs: number | null; usageMs: number | null } = OPEN;
  private timer: ReturnType<typeof setTimeout>;
  /** When the timer should fire. */
  private dueAtMs = 0;
  /** Late timers since the last part. */
  private catchUps = 0;

  constructor(
    private readonly caller: CallSignal,
    private readonly timeouts: Pick<Timeouts, "firstTokenMs" | "idleMs" | "totalMs">,
  ) {
    this.silenceMs = timeouts.firstTokenMs;
    this.timer = this.armed(this.leftMs());
    if (caller.aborted) this.handleEvent();
    else caller.addEventListener("abort", this);
  }

  /** The signal for `fetch`. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why the call was cut, if it was. */
  get reason(): Failure | null {
    return this.signal.aborted && this.signal.reason instanceof Failure ? this.signal.reason : null;
  }

  /** Called when parts go to the consumer; from the first ones on, the idle time is the limit. */
  pause(): void {
    this.waiting = false;
    this.spoke = true;
    this.catchUps = 0;
    this.closed = OPEN; // the answer continues after its finish
    const { idleMs } = this.timeouts;
    if (this.silenceMs === idleMs) return;
    this.silenceMs = idleMs;
    this.rearm();
  }

  /** Called when the consumer wants more. */
  resume(): void {
    this.waiting = true;
    this.waitingSinceMs = performance.now();
  }

  /**
   * Called when something other than the answer goes to the consumer: the upstream's silence is paused meanwhile, not
   * reset.
   */
  lend(): void {
    this.waiting = false;
    this.lentAtMs = performance.now();
  }

  takeBack(): void {
    this.waiting = true;
    this.waitingSinceMs += performance.now() - this.lentAtMs;
  }

  /**
   * Called after each read once every choice has finished: what is still to come comes soon or never. Only the first
   * call counts, and the first after the usage arrived, so that neither comments nor repeated usage keep the client
   * waiting.
   */
  closing(usageTold: boolean): void {
    const nowMs = performance.now();
    const { finishMs, usageMs } = this.closed;
    if (finishMs !== null && (usageMs !== null || !usageTold)) return;
    this.closed = { finishMs: finishMs ?? nowMs, usageMs: usageTold ? nowMs : null };
    this.rearm();
  }

  end(): void {
    clearTimeout(this.timer);
    this.caller.removeEventListener("abort", this);
  }

  private rearm(): void {
    clearTimeout(this.timer);
    this.timer = this.armed(this.leftMs());
  }

  private armed(leftMs: number): ReturnType<typeof setTimeout> {
    this.dueAtMs = performance.now() + leftMs;
    return setTimeout(checkAgain, leftMs, this);
  }

  /**
   * The timer fired: either the time is over, or it continues because the upstream sent something since the timer was
   * set. If it fired late, nobody could read what the upstream sent: that is read first, unless the whole call has
   * ended.
   */
  check(): void {
    const leftMs = this.leftMs();
    const nowMs = performance.now();
    const held = nowMs - this.dueAtMs > HELD_MS && nowMs < this.startedAtMs + this.timeouts.totalMs;
    if (leftMs > 0) this.timer = this.armed(leftMs);
    else if (held && this.catchUps++ < CATCH_UPS_MAX) this.timer = this.armed(CATCH_UP_MS);
    else this.controller.abort(this.over(nowMs));
  }

  /**
   * Returns the reason: the upstream fell silent, or answered for longer than a whole call may take, which is not its
   * fault.
   */
  private over(nowMs: number): Failure {
    const silent = this.waiting && nowMs >= this.waitingSinceMs + this.silenceMs;
    return this.spoke && !silent && this.closed === OPEN
      ? new Failure("deadline", "unknown", "the call's time ran out while the upstream was answering")
      : new Failure("timeout", "unknown", "the upstream was silent for too long");
  }

  /** The caller cut the call. */
  handleEvent(): void {
    const { reason } = this.caller;
    this.controller.abort(
      reason instanceof Failure ? reason : new Failure("aborted", "unknown", "the call was cut off"),
    );
  }

  private leftMs(): number {
    const now = performance.now();
    const silentLeft = this.waiting ? this.waitingSinceMs + this.silenceMs - now : this.silenceMs;
    const totalLeft = this.startedAtMs + this.timeouts.totalMs - now;
    return Math.ceil(Math.min(silentLeft, totalLeft, this.closesAtMs() - now));
  }

  private closesAtMs(): number {
    const { finishMs, usageMs } = this.closed;
    if (finishMs === null) return Number.POSITIVE_INFINITY;
    return Math.min(finishMs + USAGE_MS, (usageMs ?? Number.POSITIVE_INFINITY) + TERMINATOR_MS);
  }
}

const checkAgain = (timeouts: CallTimeouts): void => timeouts.check();
