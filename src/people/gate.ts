// A mutex: one caller is inside, the others wait.
import { within } from "../lib/within.ts";

export class Gate {
  private inside: Promise<void> | null = null;

  /** Resolves when the caller inside has left; null while nobody is inside. */
  get left(): Promise<void> | null {
    return this.inside;
  }

  /**
   * Waits to enter and returns the function that leaves. `late`: after `afterMs` milliseconds of waiting,
   * throws `error`.
   */
  async enter(late: { afterMs: number; error: () => Error } | null = null): Promise<() => void> {
    const untilMs = late === null ? null : performance.now() + late.afterMs;
    while (this.inside !== null) {
      if (late === null || untilMs === null) await this.inside;
      else if (!(await endsWithin(this.inside, untilMs - performance.now()))) throw late.error();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.inside = promise;
    return () => {
      this.inside = null;
      resolve();
    };
  }
}

const endsWithin = async (promise: Promise<void>, ms: number): Promise<boolean> =>
  (await within(
    promise.then(() => true as const),
    Math.max(0, ms),
  )) === true;
