// Remembers callers that have just used up a rate, as far as this process knows from its last answers. A hint whether an early
// check of the limits is worth a read; it decides nothing, and other callers do not pay for it.
import { MINUTE_MS } from "../domain/durations.ts";
import type { CallerIds } from "../domain/credential.ts";
import type { Clock } from "../lib/clock.ts";

/** The most entries that are kept; beyond that all are dropped. */
const REMEMBERED = 10_000;

/** What is left of one limit, as an answer reports it. */
interface Standing {
  subject: string;
  of: string;
  limit: number;
  remaining: number;
  resetMs: number;
}

export class SpentRates {
  private readonly untilMs = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** Notes the limits that every request of the caller counts against and that are used up, until one more request fits. */
  note(caller: CallerIds, rates: readonly Standing[]): void {
    for (const { subject, of, limit, remaining, resetMs } of rates) {
      if (of !== "requests" || remaining > 0 || (subject !== "key" && subject !== "organization")) continue;
      if (this.untilMs.size >= REMEMBERED) this.untilMs.clear();
      const fitsInMs = resetMs + MINUTE_MS / limit - MINUTE_MS;
      this.untilMs.set(placeOf(subject, caller), this.clock.monotonicMs() + fitsInMs);
    }
  }

  /** Whether a check is worth it. */
  mayBe(caller: CallerIds): boolean {
    return this.untilMs.size > 0 && (this.isSpent("key", caller) || this.isSpent("organization", caller));
  }

  private isSpent(subject: "key" | "organization", caller: CallerIds): boolean {
    const place = placeOf(subject, caller);
    const untilMs = this.untilMs.get(place);
    if (untilMs === undefined) return false;
    if (this.clock.monotonicMs() < untilMs) return true;
    this.untilMs.delete(place);
    return false;
  }
}

const placeOf = (subject: "key" | "organization", { organizationId, keyId }: CallerIds): string =>
  subject === "organization" ? organizationId : `${organizationId}/${keyId}`;
