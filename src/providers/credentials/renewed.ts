// Credentials that are valid for a while: kept, renewed before they expire, and requested once however many calls
// wait. A call that could not get them is proof that nothing was sent (money.md §2).
import { HOUR_MS } from "../../domain/durations.ts";
import { Failure } from "../failure.ts";

/** The maximum lifetime, whatever the server says; then they are requested again. */
const LIFE_MAX_MS = 12 * HOUR_MS;
/** This long before they expire they are renewed in the background, while calls still use them. */
const EARLY_MS = 5 * 60_000;
/** This long before they expire no call uses them any more: clocks differ and requests take time. */
const LATE_MS = 10_000;
/** A failed renewal is not retried sooner; calls until then share its failure. */
const AGAIN_MS = 1000;
/** Credentials that a provider rejected are dropped, unless they are younger than this: then they were not the cause. */
const YOUNG_MS = 60_000;

/** What a renewal returned, and its lifetime, counted from when it was requested. */
export interface Lent<T> {
  value: T;
  lifeMs: number;
}

interface Kept<T> {
  value: T;
  /** Monotonic, like all times here, since the wall clock may be set. */
  bornMs: number;
  renewMs: number;
  endMs: number;
}

/** Returns valid credentials without a promise. A failure is reported to all waiting calls, and remembered for a moment. */
export class Renewed<T> {
  private kept: Kept<T> | null = null;
  private renewing: Promise<Kept<T>> | null = null;
  private failed: { failure: Failure; againMs: number } | null = null;

  /** `ask` throws a `Failure` of a call that did not run. */
  constructor(private readonly ask: () => Promise<Lent<T>>) {}

  /** Returns a promise only if the value must be awaited. Throws `Failure`; nothing was sent then. */
  current(): T | Promise<T> {
    const { kept } = this;
    const nowMs = performance.now();
    if (kept === null || nowMs >= kept.endMs) return this.renewed().then(({ value }) => value);
    if (nowMs >= kept.renewMs && this.renewing === null && !this.failedLately(nowMs))
      void this.renewed().catch(() => {}); // this call does not need it, and a call that does gets the failure
    return kept.value;
  }

  /** The provider rejected them: the next call requests new ones. */
  refused(): void {
    if (this.kept !== null && performance.now() - this.kept.bornMs >= YOUNG_MS) this.kept = null;
  }

  private failedLately(nowMs: number): boolean {
    return this.failed !== null && nowMs < this.failed.againMs;
  }

  private async renewed(): Promise<Kept<T>> {
    if (this.renewing === null && this.failed !== null && this.failedLately(performance.now()))
      throw this.failed.failure;
    this.renewing ??= this.renew().finally(() => {
      this.renewing = null;
    });
    return await this.renewing;
  }

  private async renew(): Promise<Kept<T>> {
    const bornMs = performance.now();
    try {
      const { value, lifeMs: told } = await this.ask();
      const lifeMs = Math.min(told, LIFE_MAX_MS);
      const endMs = bornMs + lifeMs - Math.min(LATE_MS, lifeMs / 10);
      const renewMs = bornMs + lifeMs - Math.min(EARLY_MS, lifeMs / 4);
      this.kept = { value, bornMs, renewMs, endMs };
      this.failed = null;
      return this.kept;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.failed = { failure: error, againMs: performance.now() + AGAIN_MS };
      throw error;
    }
  }
}
