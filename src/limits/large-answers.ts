// Room for answers of which the request says that they may be large, from before a provider is paid for one until its client
// has it. A request for two thousand vectors is a few kilobytes, and its answer tens of megabytes.
import { Refusal } from "../domain/refusals.ts";
import { ByteRooms, type RoomTerms } from "./byte-rooms.ts";

export class LargeAnswers extends ByteRooms {
  constructor(terms: RoomTerms) {
    super(terms, { limit: "answer_bytes", tooMuch, full });
  }
}

const tooMuch = (): Refusal =>
  new Refusal(
    "rate_limit_exceeded",
    "Too many large answers of this organization are on their way at once. Send the request again shortly, with fewer inputs, or fewer requests at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal(
    "overloaded",
    "The gateway has as many large answers on their way as it may. Send the request again shortly.",
    { retryAfterMs: 1000 },
  );
