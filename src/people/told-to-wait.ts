// Who was told by the sign-in library that there were too many tries is told so again until then, without its being asked: it
// looks into its store for each, on the thread that serves everybody's requests.
import { networkOf } from "../lib/networks.ts";
import type { Clock } from "../lib/clock.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Visitor } from "./people.ts";

/** Networks and paths; beyond them the one that was told first is asked about again. */
const KEPT = 10_000;

/** By address and path, in memory, bounded: who is forgotten asks the library again. */
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

  /** The library has refused: what to throw; `seconds` as it says them, null where it was for another reason. */
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
  new Refusal("rate_limit_exceeded", "Too many tries from this address. Wait a moment, then try again.", {
    retryAfterMs,
  });
