// Room in memory for what is under way: bounded for all together and for each account (an organization, a person, a management
// key, a stranger's network). Nobody's shut out the others': who has something under way leaves twice as much free.
import { Refusal } from "../domain/refusals.ts";
import { Counts } from "./shares.ts";

/** The room of one body, in bytes. */
export interface Room {
  /** More of it came than was told of. Throws as `take` does. */
  grow(bytes: number): void;
  /** So much of it there is by now: what is above its room is taken, too. False where there is none. */
  holds(bytes: number): boolean;
  /** It is not in memory any more, or never will be. */
  release(): void;
}

export interface RoomTerms {
  /** Of all bodies together. */
  totalBytes: number;
  /** Of one account; a quarter where it is left out. */
  shareBytes?: number;
  /** One of this size always fits an account. */
  bodyBytes: number;
  /** Told of each refusal, by the setting's name. */
  refused: (limit: string) => void;
}

interface RoomWords {
  /** The setting's name. */
  limit: string;
  /** 429: the account has too much under way. */
  tooMuch(): Refusal;
  /** 503: all together have. */
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

  /** Throws `Refusal` 429 when the account has too much under way, 503 when all together have. */
  take(account: string, bytes: number): Room {
    return new BodyRoom(this, account, bytes);
  }

  /** So much more of it. Throws as `take` does. */
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
