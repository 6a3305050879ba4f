// Pages that follow the activity live in this process, limited per person, per organization and in total. When all places are
// taken, an organization with fewer places takes the oldest one of the organization with the most.
import { Refusal } from "../domain/refusals.ts";

export interface TailLimits {
  perPerson: number;
  perOrganization: number;
  together: number;
}

interface Tail {
  person: string;
  organization: string;
  end(): void;
}

/** A browser opens six connections to a gateway over plain HTTP; this leaves some of them for its pages. */
const AT_MOST: TailLimits = { perPerson: 4, perOrganization: 30, together: 120 };
const COME_BACK_MS = 10_000;

export class Tails {
  /** In the order in which they began. */
  private readonly open = new Set<Tail>();

  constructor(private readonly limits: TailLimits = AT_MOST) {}

  get size(): number {
    return this.open.size;
  }

  /**
   * Takes a place; the returned function gives it back. Calls `end` when another page gets the place. Throws `Refusal` 429 if
   * the person or the organization is at its limit, 503 if no place can be taken.
   */
  begin(tail: Tail): () => void {
    const { perPerson, perOrganization } = this.limits;
    const count = (of: "person" | "organization"): number =>
      [...this.open].filter((other) => other[of] === tail[of]).length;
    if (count("person") >= perPerson)
      throw tooMany(`You are already following live activity on ${perPerson} pages. Close one of them.`);
    const own = count("organization");
    if (own >= perOrganization)
      throw tooMany(
        `${perOrganization} pages are already following this organization's live activity. Someone has to close one first.`,
      );
    this.makeRoom(own);
    this.open.add(tail);
    return () => void this.open.delete(tail);
  }

  /** Displaces nobody for an organization that would then have as many places as the one that loses. */
  private makeRoom(own: number): void {
    if (this.open.size < this.limits.together) return;
    const oldest = this.oldestOfTheFullest(own + 1);
    if (oldest === null)
      throw new Refusal(
        "overloaded",
        "Too many pages are following live activity right now. Try again shortly.",
        {
          retryAfterMs: COME_BACK_MS,
        },
      );
    this.open.delete(oldest);
    oldest.end();
  }

  private oldestOfTheFullest(above: number): Tail | null {
    const organizations = Map.groupBy(this.open, ({ organization }) => organization);
    const [fullest] = [...organizations.values()].toSorted((a, b) => b.length - a.length);
    return fullest !== undefined && fullest.length > above ? (fullest[0] ?? null) : null;
  }
}

const tooMany = (words: string): Refusal =>
  new Refusal("rate_limit_exceeded", words, { retryAfterMs: COME_BACK_MS });
