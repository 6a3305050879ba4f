// Limits how many reads of the APIs may be in progress at once, waiting ones included, per party and in total. One that
// waits costs little, but nobody waits for the thousandth.
import { Refusal } from "../domain/refusals.ts";
import { Counts } from "./shares.ts";

export interface OpenReadsLimits {
  perParty: number;
  together: number;
}

/** A page makes at most eight at once: this is 32 people who open one in the same moment. */
const AT_MOST: OpenReadsLimits = { perParty: 256, together: 2048 };
const SHORTLY_MS = 1000;

export class OpenReads {
  private readonly open = new Counts();

  constructor(private readonly limits: OpenReadsLimits = AT_MOST) {}

  /** Takes a place; the returned function gives it back. Throws `Refusal` 429 if the party is at its limit, 503 if all together are. */
  begin(party: string): () => void {
    const { perParty, together } = this.limits;
    if (this.open.of(party) >= perParty)
      throw new Refusal(
        "rate_limit_exceeded",
        `${perParty} reads of this organization, or of this gateway's operators, are already in progress. Wait for some of them to end, and read one page after another.`,
        { retryAfterMs: SHORTLY_MS },
      );
    if (this.open.together >= together)
      throw new Refusal("overloaded", "The gateway is at its limit of reads in progress. Retry shortly.", {
        retryAfterMs: SHORTLY_MS,
      });
    this.open.add(party, 1);
    return () => this.open.add(party, -1);
  }
}
