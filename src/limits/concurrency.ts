// Limits how many requests may be unsettled at the same time in this process (S18) and keeps one organization from
// shutting out the others: for a while after another caller was refused, an organization that has its share gets none
// of the places that become free. A request counts until its hold has ended, even if its client has left: a keyed
// stream then runs on, and costs. Limits across all gateways are decided in COMMIT 1 (`ledger/decide/rate.ts`).
import type { CallerIds } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { Counts } from "./shares.ts";

/** The place of one request, taken before its admission and kept until it is settled or voided. */
export interface ConcurrencySlot {
  /** Gives the place back. A second call does nothing. */
  done(): void;
}

const SHORTLY_MS = 1000;
/** A refused caller that retries within this time finds the places that became free in the meantime. */
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
  /** The limit for all callers together. */
  inProcess: number;
  /** The share of them that one organization may have while another one waits, in percent. */
  sharePercent: number;
  clock: Pick<Clock, "monotonicMs">;
  /** Called for each refusal with the setting's name. */
  refused: (limit: string) => void;
}

export class Concurrency {
  private readonly taken = new Counts();
  private readonly share: number;
  /** Until this time, another organization is considered to be waiting. */
  private waitedForUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly ports: ConcurrencyPorts) {
    this.share = Math.max(1, Math.floor((ports.inProcess * ports.sharePercent) / 100));
  }

  /** Returns why this caller may not start a request now (429 if it has its share and others wait, 503 if all places are taken), or null. */
  refusal({ organizationId }: Pick<CallerIds, "organizationId">): Refusal | null {
    const nowMs = this.ports.clock.monotonicMs();
    const hasItsShare = this.taken.of(organizationId) >= this.share;
    if (hasItsShare && nowMs < this.waitedForUntilMs)
      return this.refused("organization_share_percent", tooMany());
    if (this.taken.together < this.ports.inProcess) return null;
    if (!hasItsShare) this.waitedForUntilMs = nowMs + WAITS_MS;
    return this.refused("max_concurrent", full());
  }

  /** Takes a place, or returns what `refusal` returns. */
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
    "This organization is already using its share of the gateway's concurrent requests, and others are waiting. Streams whose client has disconnected count until they end. Retry shortly.",
    { retryAfterMs: SHORTLY_MS },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway has reached its limit of requests in progress. Retry shortly.", {
    retryAfterMs: SHORTLY_MS,
  });
