// Repeats the sign-in library's "too many tries" until it ends, without asking the library: each question
// would read its store on the thread that serves everybody's requests.
import { networkOf } from "../lib/networks.ts";
import type { Clock } from "../lib/clock.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Visitor } from "./people.ts";

/**
 * The most networks and paths remembered; beyond it the oldest entry is dropped and asks the library again.
 */
const KEPT = 10_000;

/** By network and path, in memory, bounded: a dropped entry asks the library again. */
export class ToldToWait {
  /** By the monotonic clock. */
  private readonly untilMs = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** Throws while this visitor has to wait at this path. */
  check({ address }: Visitor, path: string): void {
    const place = placeOf(address, path);
    const leftMs = (this.untilMs.get(place) ?? 0) - this.clock.monotonicMs();
    if (leftMs > 0) throw tooMany(Math.ceil(leftMs / 1000) * 1000);
    this.untilMs.delete(place);
  }

  /**
   * Records the library's refusal and returns the error to throw; `seconds` as the library states them, null
   * if it refused for another reason.
   */
  told({ address }: Visitor, path: string, seconds: string | null): Refusal {
    const waitMs = Number(seconds ?? "1") * 1000;
    if (seconds !== null && waitMs > 0) {
      const [first] = this.untilMs.keys();
      if (first !== undefined && this.untilMs.size >= KEPT) this.untilMs.delete(first);
      this.untilMs.set(placeOf(address, path), this.clock.monotonicMs() + waitMs);
    }
    return tooMany(waitMs);
  }
}

const placeOf = (address: string | null, path: string): string => `${networkOf(address ?? "")} ${path}`;

const tooMany = (retryAfterMs: number): Refusal =>
  new Refusal("rate_limit_exceeded", "Too many attempts from this address. Wait a moment, then try again.", {
    retryAfterMs,
  });
