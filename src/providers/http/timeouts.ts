// The timers of one upstream call: first part, idle, total (wire.md §8.1). Only time in which we wait for the upstream
// counts as its silence; a slow consumer is not. One timer in all, re-armed when it fires, so progress costs a clock reading.
import { Failure } from "../failure.ts";
import type { CallSignal } from "../provider.ts";

export interface Timeouts {
  connectMs: number;
  firstTokenMs: number;
  idleMs: number;
  totalMs: number;
}

/** After the last finish only usage and the terminator are awaited, after the usage only the terminator. */
const USAGE_MS = 5000;
const TERMINATOR_MS = 1000;
/** So late a timer comes only when the thread was held: by a locked store, a frozen process. What was sent meanwhile waits. */
const HELD_MS = 50;
/** In which that is read. */
const CATCH_UP_MS = 250;
/** So often in a row: where every timer comes late, a silence would never be one. */
const CATCH_UPS_MAX = 4;

const OPEN = { finishMs: null, usageMs: null };

/** Of one call; all durations in milliseconds, on the monotonic clock. */
export class CallTimeouts {
  private readonly controller = new AbortController();
  private readonly startedAtMs = performance.now();
  private waitingSinceMs = this.startedAtMs;
  /** Off while parts are with the consumer. */
  private waiting = true;
  /** A part has come. */
  private spoke = false;
  private silenceMs: number;
  private lentAtMs = 0;
  /** Monotonic: when the last finish, and the usage, had been read; no word extends what is left from then on. */
  private closed: { finishMs: number | null; usageMs: number | null } = OPEN;
  private timer: ReturnType<typeof setTimeout>;
  /** When the timer should fire. */
  private dueAtMs = 0;
  /** Since something was said. */
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

  /** For `fetch`. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why the call was cut, if it was. */
  get reason(): Failure | null {
    return this.signal.aborted && this.signal.reason instanceof Failure ? this.signal.reason : null;
  }

  /** Parts go to the consumer; from the first ones on, the idle time is the limit. */
  pause(): void {
    this.waiting = false;
    this.spoke = true;
    this.catchUps = 0;
    this.closed = OPEN; // it goes on behind its finish
    const { idleMs } = this.timeouts;
    if (this.silenceMs === idleMs) return;
    this.silenceMs = idleMs;
    this.rearm();
  }

  /** The consumer wants more. */
  resume(): void {
    this.waiting = true;
    this.waitingSinceMs = performance.now();
  }

  /** What goes to the consumer is no word of the answer: the upstream's silence stands still meanwhile, and goes on. */
  lend(): void {
    this.waiting = false;
    this.lentAtMs = performance.now();
  }

  takeBack(): void {
    this.waiting = true;
    this.waitingSinceMs += performance.now() - this.lentAtMs;
  }

  /**
   * Every choice has finished: what is still to come comes soon or never. Told after each read; only the first counts, and
   * the first after the usage was there, so that neither comments nor repeated usage keep the client waiting.
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
   * The timer fired: the time is over, or goes on because the upstream spoke since it was set. Where it fired late, nobody
   * could read what the upstream said: that is done first, unless the whole call has ended.
   */
  check(): void {
    const leftMs = this.leftMs();
    const nowMs = performance.now();
    const held = nowMs - this.dueAtMs > HELD_MS && nowMs < this.startedAtMs + this.timeouts.totalMs;
    if (leftMs > 0) this.timer = this.armed(leftMs);
    else if (held && this.catchUps++ < CATCH_UPS_MAX) this.timer = this.armed(CATCH_UP_MS);
    else this.controller.abort(this.over(nowMs));
  }

  /** Why: it fell silent, or spoke for longer than a whole call may take, which says nothing about it. */
  private over(nowMs: number): Failure {
    const silent = this.waiting && nowMs >= this.waitingSinceMs + this.silenceMs;
    return this.spoke && !silent && this.closed === OPEN
      ? new Failure("deadline", "unknown", "the time for the call was over while the upstream spoke")
      : new Failure("timeout", "unknown", "the upstream was silent for too long");
  }

  /** The caller cut the call. */
  handleEvent(): void {
    const { reason } = this.caller;
    this.controller.abort(
      reason instanceof Failure ? reason : new Failure("aborted", "unknown", "the call was cut"),
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
