// How many requests may be unsettled at once: of one key, of one organization, in this process (S18). Counted is what is
// under way until its hold has ended, not who still listens: a keyed stream whose client has left runs on, and costs.
import type { Credential } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import { type Share, Shares } from "./shares.ts";

export interface ConcurrencyLimits {
  /** Null = no limit. */
  perKey: number | null;
  perOrganization: number | null;
  inProcess: number;
}

/** One request's place, from before its admission until it is settled or voided. */
export interface ConcurrencySlot {
  /** Gives it back; a second time does nothing. */
  done(): void;
}

type Caller = Pick<Credential, "keyId" | "organizationId">;

const SHORTLY_MS = 1000;
const ALL = "all";

export class Concurrency {
  private readonly shares = new Shares();

  constructor(private readonly limits: ConcurrencyLimits) {}

  /** Requests under way, those without a client included. */
  get size(): number {
    return this.shares.takenOf(ALL);
  }

  /** Why no request of this caller may start now: 429 at a limit of its own, 503 at that of all. Null when one may. */
  refusal(caller: Caller): Refusal | null {
    const passed = this.shares.passed(this.sharesOf(caller));
    if (passed === null) return null;
    if (passed.of === ALL) return full();
    return tooMany(passed.of === caller.keyId ? "This key" : "This organization");
  }

  /** Takes a place, or says what `refusal` says. */
  take(caller: Caller): ConcurrencySlot | Refusal {
    return this.refusal(caller) ?? { done: this.shares.take(this.sharesOf(caller)) };
  }

  private sharesOf({ keyId, organizationId }: Caller): Share[] {
    const { perKey, perOrganization, inProcess } = this.limits;
    return [
      { of: keyId, most: perKey },
      { of: organizationId, most: perOrganization },
      { of: ALL, most: inProcess },
    ];
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
