// Room for request bodies while they arrive: unfinished ones hold memory without having cost their sender anything yet.
// Bounded for all together and for each account (an organization, a person, a management key), so that nobody's slow
// uploads shut out the others. What is larger than the room left is refused unread; the front door then discards it.
import { Refusal } from "../domain/refusals.ts";
import { Counts } from "./shares.ts";

/** One body's room, in bytes. */
export interface Room {
  /** More of it arrived than was declared. Throws as `take` does. */
  grow(bytes: number): void;
  /** The body has been read, or never will be. */
  release(): void;
}

interface UploadTerms {
  /** Of all bodies that are being received; an account has a quarter. */
  totalBytes: number;
  /** One of this size always fits. */
  bodyBytes: number;
  /** Told of each refusal. */
  refused: (limit: string) => void;
}

export class Uploads {
  private readonly taken = new Counts();
  private readonly most: { together: number; share: number };
  private readonly refused: UploadTerms["refused"];

  constructor({ totalBytes, bodyBytes, refused }: UploadTerms) {
    this.refused = refused;
    this.most = { together: Math.max(totalBytes, bodyBytes), share: Math.max(totalBytes / 4, bodyBytes) };
  }

  /** Throws `Refusal` 429 when the account has too much under way, 503 when all together have. */
  take(account: string, bytes: number): Room {
    return new UploadRoom(this, account, bytes);
  }

  /** So much more of it. Throws as `take` does. */
  add(account: string, bytes: number): void {
    const { taken, most } = this;
    if (taken.of(account) + bytes > most.share) throw this.refusal(tooMuch());
    if (taken.together + bytes > most.together) throw this.refusal(full());
    taken.add(account, bytes);
  }

  giveBack(account: string, bytes: number): void {
    this.taken.add(account, -bytes);
  }

  private refusal(refusal: Refusal): Refusal {
    this.refused("upload_bytes");
    return refusal;
  }
}

class UploadRoom implements Room {
  private bytes = 0;

  constructor(
    private readonly uploads: Pick<Uploads, "add" | "giveBack">,
    private readonly account: string,
    bytes: number,
  ) {
    this.grow(bytes);
  }

  grow(bytes: number): void {
    this.uploads.add(this.account, bytes);
    this.bytes += bytes;
  }

  release(): void {
    this.uploads.giveBack(this.account, this.bytes);
    this.bytes = 0;
  }
}

const tooMuch = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "Too many large request bodies are being sent at once. Send the request again shortly, or fewer at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway is receiving as much as it may. Send the request again shortly.", {
    retryAfterMs: 1000,
  });
