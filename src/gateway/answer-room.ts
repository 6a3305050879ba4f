// Room for an answer that may be large (docs/decisions/0050-texts-and-vectors.md). For a new answer it is taken once its credits
// are held and before anybody is paid, for a stored one before it is read; it is given back when the client has the answer.
import { Refusal } from "../domain/refusals.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { LargeAnswers } from "../limits/large-answers.ts";
import type { Hold } from "./hold.ts";

/** An answer up to this size, such as one vector, needs no more room than a text answer. */
export const SMALL_BYTES = 128 * 1024;

/** Takes the room that the request's answer may need; returns the refusal if there is none. */
export function takeRoom(answers: LargeAnswers, hold: Hold): Refusal | null {
  const { candidates, organizationId } = hold.admitted;
  let bytes = 0;
  for (const { body } of candidates) bytes = Math.max(bytes, body.answerBytes ?? 0);
  const room = roomOf(answers, organizationId, bytes);
  if (room instanceof Refusal) return room;
  hold.room = room;
  return null;
}

/** Null: the answer is small. */
export function roomOf(answers: LargeAnswers, organizationId: string, bytes: number): Room | Refusal | null {
  if (bytes <= SMALL_BYTES) return null;
  try {
    return answers.take(organizationId, bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
