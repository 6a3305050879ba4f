// The memory budget for answers that their requests show may be large. Room is taken before a provider is paid for the answer and
// given back once its client has it. A request for two thousand vectors is a few kilobytes, and its answer tens of megabytes.
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
    "This organization has too many large answers in progress. Retry shortly, with fewer inputs or fewer requests at a time.",
    { retryAfterMs: 1000 },
  );

const full = (): Refusal =>
  new Refusal(
    "overloaded",
    "The gateway has reached its limit of large answers in progress. Retry shortly.",
    {
      retryAfterMs: 1000,
    },
  );
