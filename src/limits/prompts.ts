// The memory budget for large request bodies, from arrival until their requests are settled: what was read and what is sent to a
// provider stays in memory that long, however slow the provider is. Small bodies are bounded by the number of running requests.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type Room, type RoomTerms } from "./byte-rooms.ts";
import type { ConcurrencySlot } from "./concurrency.ts";
import { SMALL_BODY_BYTES } from "./uploads.ts";

const MOST_BYTES = 512 * 1024 * 1024;
/** Each byte of a body takes three bytes of memory: as it was read, as it is kept, as it is sent to the provider. */
const PART_OF_MEMORY = 8;

/** The default budget for this much memory. */
export const promptBytesIn = (memoryBytes: number): number =>
  Math.min(MOST_BYTES, Math.floor(memoryBytes / PART_OF_MEMORY));

export class Prompts {
  private readonly rooms: ByteRooms;
  /** The share of one organization; one body always fits, whatever its weight. */
  private readonly most: number;

  constructor(terms: RoomTerms) {
    this.most = Math.max(terms.totalBytes / 4, terms.bodyBytes);
    this.rooms = new ByteRooms(terms, { limit: "prompt_bytes", tooMuch, full });
  }

  /** Takes room for `weight` bytes. Null: too small to need any. 429 if the organization has too much in progress, 503 if all together have. */
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

/** A slot that gives the prompt's room back together with its place. */
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
    "This organization has too many large requests in progress. Retry shortly, or send fewer at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal(
    "overloaded",
    "The gateway has reached its limit of large requests in progress. Retry shortly.",
    {
      retryAfterMs: 1000,
    },
  );
