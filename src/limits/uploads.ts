// The memory budget for request bodies while they arrive: unfinished ones hold memory without having cost their sender anything yet.
// A body without room is refused; the front door discards the unread rest. Small bodies have a budget of their own, which large
// ones cannot use up, and so have those of strangers. A declared length takes no room, except for a tenant's small body.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type Room, type RoomTerms } from "./byte-rooms.ts";

export const SMALL_BODY_BYTES = 64 * 1024;

/** No door accepts a larger body from a stranger. */
export const STRANGER_BODY_BYTES = 1024 * 1024;

/** The body budgets of one kind of sender. */
export interface BodyRooms {
  /** A body that declares at most this many bytes takes its room at once; others take it as they arrive. */
  readonly atOnceBytes: number;
  /** Takes room for `atOnce` bytes; null: as they arrive. Throws 429 if the account has too much in progress, 503 if all together have. */
  take(account: string, atOnce: number | null): Room;
}

export class Uploads implements BodyRooms {
  /** For callers that have not identified themselves yet. */
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
    "Too many or too large request bodies are being uploaded at the same time. Retry shortly, or send fewer at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway has reached its upload limit. Retry shortly.", {
    retryAfterMs: 1000,
  });

const WORDS = { limit: "upload_bytes", tooMuch, full };
