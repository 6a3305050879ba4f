// One at a time: whoever is inside is alone, the others wait in front of it.
import { within } from "../lib/within.ts";

export class Gate {
  private inside: Promise<void> | null = null;

  /** Resolves when whoever is inside has left; null while nobody is. */
  get left(): Promise<void> | null {
    return this.inside;
  }

  /** Resolves with the way out. `late`: after so many milliseconds it throws what that makes. */
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
