// Room for request bodies while they arrive: unfinished ones hold memory without having cost their sender anything yet. What is
// larger than the room left is refused unread; the front door then discards it.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type RoomTerms } from "./byte-rooms.ts";

export class Uploads extends ByteRooms {
  constructor(terms: RoomTerms) {
    super(terms, { limit: "upload_bytes", tooMuch, full });
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
