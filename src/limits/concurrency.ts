// How many requests may be unsettled at once in this process (S18), and that no organization keeps the others out: while
// somebody was turned away a moment ago, whoever has its share gets no more of the places that are given back. Counted is what
// is under way until its hold has ended, not who still listens: a keyed stream whose client has left runs on, and costs.
// What holds on all gateways together is decided in COMMIT 1 (`ledger/decide/rate.ts`).
import type { CallerIds } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { Counts } from "./shares.ts";

/** One request's place, from before its admission until it is settled or voided. */
export interface ConcurrencySlot {
  /** Gives it back; a second time does nothing. */
  done(): void;
}

const SHORTLY_MS = 1000;
/** Who was turned away comes back within this, and finds what was given back meanwhile. */
const WAITS_MS = 5000;

class Slot implements ConcurrencySlot {
  private held = true;

  constructor(
    private readonly counts: Counts,
    private readonly organizationId: string,
  ) {
    counts.add(organizationId, 1);
  }

  done(): void {
    if (this.held) this.counts.add(this.organizationId, -1);
    this.held = false;
  }
}

interface ConcurrencyPorts {
  /** Of all callers together. */
  inProcess: number;
  /** What one organization may have of them while another one waits, in percent. */
  sharePercent: number;
  clock: Pick<Clock, "monotonicMs">;
  /** Told of each refusal, by the setting's name. */
  refused: (limit: string) => void;
}

export class Concurrency {
  private readonly taken = new Counts();
  private readonly share: number;
  /** Until then somebody else waits. */
  private waitedForUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly ports: ConcurrencyPorts) {
    this.share = Math.max(1, Math.floor((ports.inProcess * ports.sharePercent) / 100));
  }

  /** Why no request of this caller may start now: 429 where it has its share and others wait, 503 where all is taken. */
  refusal({ organizationId }: Pick<CallerIds, "organizationId">): Refusal | null {
    const nowMs = this.ports.clock.monotonicMs();
    const hasItsShare = this.taken.of(organizationId) >= this.share;
    if (hasItsShare && nowMs < this.waitedForUntilMs)
      return this.refused("organization_share_percent", tooMany());
    if (this.taken.together < this.ports.inProcess) return null;
    if (!hasItsShare) this.waitedForUntilMs = nowMs + WAITS_MS;
    return this.refused("max_concurrent", full());
  }

  /** Takes a place, or says what `refusal` says. */
  take(caller: Pick<CallerIds, "organizationId">): ConcurrencySlot | Refusal {
    return this.refusal(caller) ?? new Slot(this.taken, caller.organizationId);
  }

  private refused(limit: string, refusal: Refusal): Refusal {
    this.ports.refused(limit);
    return refusal;
  }
}

const tooMany = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "This organization has its share of the requests that the gateway runs at once, and others are waiting. Streams whose client has disconnected count until they end. Retry shortly.",
    { retryAfterMs: SHORTLY_MS },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway is at its limit of requests in progress. Retry shortly.", {
    retryAfterMs: SHORTLY_MS,
  });
