// Room for request bodies while they arrive: unfinished ones hold memory without having cost their sender anything yet. What finds
// none is refused, its rest unread; the front door then discards it. Small bodies have room of their own, which large ones
// cannot use up, and so have those of strangers. What is only declared takes none, but for a tenant's small one.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type Room, type RoomTerms } from "./byte-rooms.ts";

export const SMALL_BODY_BYTES = 64 * 1024;

/** No door takes a larger one of a stranger. */
export const STRANGER_BODY_BYTES = 1024 * 1024;

/** The rooms of bodies that one kind of sender has. */
export interface BodyRooms {
  /** A body that declares no more takes its room at once, others as they come. */
  readonly atOnceBytes: number;
  /** Of so many bytes; null where they take it as they come. Throws 429 when the account has too much under way, 503 when all have. */
  take(account: string, atOnce: number | null): Room;
}

export class Uploads implements BodyRooms {
  /** Of those who have shown nothing yet. */
  readonly strangers: BodyRooms;
  readonly atOnceBytes = SMALL_BODY_BYTES;
  private readonly small: ByteRooms;
  private readonly large: ByteRooms;

  constructor({ totalBytes, bodyBytes, refused }: RoomTerms) {
    const rooms = (bytes: number, terms: Partial<RoomTerms> = {}): ByteRooms =>
      new ByteRooms({ totalBytes: bytes, bodyBytes: SMALL_BODY_BYTES, refused, ...terms }, WORDS);
    const [small, ofStrangers] = [totalBytes / 4, totalBytes / 16];
    this.small = rooms(small);
    this.large = rooms(totalBytes - small - ofStrangers, { shareBytes: totalBytes / 4, bodyBytes });
    const strangers = rooms(Math.max(ofStrangers, 4 * STRANGER_BODY_BYTES), {
      shareBytes: Math.max(ofStrangers / 4, STRANGER_BODY_BYTES),
    });
    this.strangers = { atOnceBytes: 0, take: (account, atOnce) => strangers.take(account, atOnce ?? 0) };
  }

  take(account: string, atOnce: number | null): Room {
    return atOnce === null ? this.large.take(account, 0) : this.small.take(account, atOnce);
  }
}

const tooMuch = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "Too many or too large request bodies are being uploaded at once. Retry shortly, or send fewer at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway is at its upload limit. Retry shortly.", {
    retryAfterMs: 1000,
  });

const WORDS = { limit: "upload_bytes", tooMuch, full };
