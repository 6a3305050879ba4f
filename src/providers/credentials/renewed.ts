// Something that proves us for a while: kept, renewed before it ends, and asked for once however many calls wait. What cannot be
// had is proof that nothing was sent (money.md §2).
import { HOUR_MS } from "../../domain/durations.ts";
import { Failure } from "../failure.ts";

/** Whatever it says: it is asked for again after this time. */
const LIFE_MAX_MS = 12 * HOUR_MS;
/** From here on it is renewed beside the calls that still go out with it. */
const EARLY_MS = 5 * 60_000;
/** From here on no call goes out with it: clocks and the way there take time. */
const LATE_MS = 10_000;
/** A renewal that failed is not tried again before: the calls of this time share its failure. */
const AGAIN_MS = 1000;
/** What was refused is given up, unless it is this young: then it is not what was wrong. */
const YOUNG_MS = 60_000;

/** What a renewal brought, and for how long it counts from when it was asked for. */
export interface Lent<T> {
  value: T;
  lifeMs: number;
}

interface Kept<T> {
  value: T;
  /** Monotonic, as all times here: clocks are set. */
  bornMs: number;
  renewMs: number;
  endMs: number;
}

/** While it is good, it is there without a promise; a failure is told to all who wait, and remembered for a moment. */
export class Renewed<T> {
  private kept: Kept<T> | null = null;
  private renewing: Promise<Kept<T>> | null = null;
  private failed: { failure: Failure; againMs: number } | null = null;

  /** `ask` throws `Failure`, of calls that did not run. */
  constructor(private readonly ask: () => Promise<Lent<T>>) {}

  /** A promise only where it has to be waited for. Throws `Failure`, nothing was sent. */
  current(): T | Promise<T> {
    const { kept } = this;
    const nowMs = performance.now();
    if (kept === null || nowMs >= kept.endMs) return this.renewed().then(({ value }) => value);
    if (nowMs >= kept.renewMs && this.renewing === null && !this.failedLately(nowMs))
      void this.renewed().catch(() => {}); // this call needs none, and who does is told
    return kept.value;
  }

  /** The provider did not take it: the next call asks for another. */
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
