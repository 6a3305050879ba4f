// Memory budgets for work in progress, bounded in total and for each account (an organization, a person, a management key, a
// stranger's network). No account can shut out the others: one with work in progress must leave twice as much free.
import { Refusal } from "../domain/refusals.ts";
import { Counts } from "./shares.ts";

/** The room of one body, in bytes. */
export interface Room {
  /** Takes more room, for a body that exceeds what was announced. Throws as `take` does. */
  grow(bytes: number): void;
  /** Makes sure that the room is at least `bytes`, taking more if necessary. Returns false if there is no room left. */
  holds(bytes: number): boolean;
  /** Gives the room back: the body is no longer in memory, or never will be. */
  release(): void;
}

export interface RoomTerms {
  /** For all bodies together. */
  totalBytes: number;
  /** For one account; defaults to a quarter of the total. */
  shareBytes?: number;
  /** One body of this size always fits within an account's share. */
  bodyBytes: number;
  /** Called for each refusal with the setting's name. */
  refused: (limit: string) => void;
}

interface RoomWords {
  /** The setting's name. */
  limit: string;
  /** 429: the account has too much in progress. */
  tooMuch(): Refusal;
  /** 503: all accounts together have too much in progress. */
  full(): Refusal;
}

export class ByteRooms {
  private readonly taken = new Counts();
  private readonly most: { together: number; share: number; body: number };
  private readonly refused: RoomTerms["refused"];

  constructor(
    { totalBytes, shareBytes = totalBytes / 4, bodyBytes, refused }: RoomTerms,
    private readonly words: RoomWords,
  ) {
    this.refused = refused;
    this.most = {
      together: Math.max(totalBytes, bodyBytes),
      share: Math.max(shareBytes, bodyBytes),
      body: bodyBytes,
    };
  }

  /** Throws `Refusal` 429 if the account has too much in progress, 503 if all accounts together have. */
  take(account: string, bytes: number): Room {
    return new BodyRoom(this, account, bytes);
  }

  /** Takes more for the account. Throws as `take` does. */
  add(account: string, bytes: number): void {
    const { taken, most, words } = this;
    const wanted = taken.of(account) + bytes;
    const free = most.together - taken.together;
    if (wanted > most.share) throw this.refusal(words.tooMuch());
    if (bytes > free) throw this.refusal(words.full());
    if (2 * wanted > free && wanted > most.body) throw this.refusal(words.tooMuch());
    taken.add(account, bytes);
  }

  giveBack(account: string, bytes: number): void {
    this.taken.add(account, -bytes);
  }

  private refusal(refusal: Refusal): Refusal {
    this.refused(this.words.limit);
    return refusal;
  }
}

class BodyRoom implements Room {
  private bytes = 0;

  constructor(
    private readonly rooms: Pick<ByteRooms, "add" | "giveBack">,
    private readonly account: string,
    bytes: number,
  ) {
    this.grow(bytes);
  }

  grow(bytes: number): void {
    this.rooms.add(this.account, bytes);
    this.bytes += bytes;
  }

  holds(bytes: number): boolean {
    if (bytes <= this.bytes) return true;
    try {
      this.grow(bytes - this.bytes);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  release(): void {
    this.rooms.giveBack(this.account, this.bytes);
    this.bytes = 0;
  }
}
