// How many requests may be unsettled at once: of one key, of one organization, in this process (S18). Counted is what is
// under way until its hold has ended, not who still listens: a keyed stream whose client has left runs on, and costs.
import type { CallerIds } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { CallerLimit } from "./caller-limits.ts";
import { type Share, Shares } from "./shares.ts";

/** One request's place, from before its admission until it is settled or voided. */
export interface ConcurrencySlot {
  /** Gives it back; a second time does nothing. */
  done(): void;
}

/** `whose`: null for that of all together. */
type LimitedShare = Share & { name: string; whose: string | null };

const SHORTLY_MS = 1000;
const ALL = "all";

interface ConcurrencyPorts {
  /** Of all callers together. */
  inProcess: number;
  /** Told of each refusal. */
  refused: (limit: string) => void;
}

export class Concurrency {
  private readonly shares = new Shares();
  /** The share of all callers together. */
  private readonly everybody: readonly LimitedShare[];

  constructor(
    private readonly limits: readonly CallerLimit[],
    private readonly ports: ConcurrencyPorts,
  ) {
    this.everybody = [{ name: "max_concurrent", whose: null, most: ports.inProcess, of: ALL }];
  }

  /** Why no request of this caller may start now: 429 at a limit of its own, 503 at that of all. Null when one may. */
  refusal(caller: CallerIds): Refusal | null {
    return this.refusalOf(this.sharesOf(caller));
  }

  /** Takes a place, or says what `refusal` says. */
  take(caller: CallerIds): ConcurrencySlot | Refusal {
    const shares = this.sharesOf(caller);
    return this.refusalOf(shares) ?? this.shares.take(shares);
  }

  private refusalOf(shares: readonly LimitedShare[]): Refusal | null {
    const passed = this.shares.passed(shares);
    if (passed === null) return null;
    this.ports.refused(passed.name);
    return passed.whose === null ? full() : tooMany(passed.whose);
  }

  private sharesOf(caller: CallerIds): readonly LimitedShare[] {
    if (this.limits.length === 0) return this.everybody;
    const own = this.limits.map(({ name, whose, most, of }) => ({ name, whose, most, of: of(caller) }));
    return [...own, ...this.everybody];
  }
}

const tooMany = (whose: string): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    `${whose} has as many requests in progress as it may; streams whose client has left count until they have ended. Send the request again shortly.`,
    { retryAfterMs: SHORTLY_MS },
  );

const full = (): Refusal =>
  new Refusal(
    "overloaded",
    "The gateway has as many requests in progress as it may. Send the request again shortly.",
    { retryAfterMs: SHORTLY_MS },
  );
