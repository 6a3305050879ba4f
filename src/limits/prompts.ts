// Room for large request bodies from when they have come until their requests are settled: what was read of one, and what is
// told a provider, stays in memory as long, however slow that is. Small ones are as many as requests may run.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type Room, type RoomTerms } from "./byte-rooms.ts";
import type { ConcurrencySlot } from "./concurrency.ts";
import { SMALL_BODY_BYTES } from "./uploads.ts";

const MOST_BYTES = 512 * 1024 * 1024;
/** Each byte of a body takes three of memory: as it was read, as it is kept, as it is told the provider. */
const PART_OF_MEMORY = 8;

/** What there is room for where nobody has said how much. */
export const promptBytesIn = (memoryBytes: number): number =>
  Math.min(MOST_BYTES, Math.floor(memoryBytes / PART_OF_MEMORY));

export class Prompts {
  private readonly rooms: ByteRooms;
  /** What one organization has: one body fits however much it weighs. */
  private readonly most: number;

  constructor(terms: RoomTerms) {
    this.most = Math.max(terms.totalBytes / 4, terms.bodyBytes);
    this.rooms = new ByteRooms(terms, { limit: "prompt_bytes", tooMuch, full });
  }

  /** Of what it weighs, bytes. Null: little. 429 where the organization has too much under way, 503 where all together have. */
  roomOf(organizationId: string, weight: number): Room | Refusal | null {
    if (weight <= SMALL_BODY_BYTES) return null;
    try {
      return this.rooms.take(organizationId, Math.min(weight, this.most));
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }
}

/** The place of a request that has room for its prompt as long. */
export const withPrompt = (slot: ConcurrencySlot, room: Room | null): ConcurrencySlot =>
  room === null
    ? slot
    : {
        done: () => {
          slot.done();
          room.release();
        },
      };

const tooMuch = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "This organization has too many large requests in progress at once. Retry shortly, or send fewer at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal("overloaded", "The gateway is at its limit of large requests in progress. Retry shortly.", {
    retryAfterMs: 1000,
  });
