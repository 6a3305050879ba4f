// Room for an answer that may be large (docs/decisions/0050-texts-and-vectors.md): of a new one taken when its credits are
// held and nobody is paid yet, of a kept one before it is read; given back when its client has it.
import { Refusal } from "../domain/refusals.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { LargeAnswers } from "../limits/large-answers.ts";
import type { Hold } from "./hold.ts";

/** What is not longer, one vector for example, is not more than an answer in words. */
export const SMALL_BYTES = 128 * 1024;

/** Takes the room that the request's answer may need; the refusal where there is none. */
export function takeRoom(answers: LargeAnswers, hold: Hold): Refusal | null {
  const { candidates, organizationId } = hold.admitted;
  let bytes = 0;
  for (const { body } of candidates) bytes = Math.max(bytes, body.answerBytes ?? 0);
  const room = roomOf(answers, organizationId, bytes);
  if (room instanceof Refusal) return room;
  hold.room = room;
  return null;
}

/** Null: it is small. */
export function roomOf(answers: LargeAnswers, organizationId: string, bytes: number): Room | Refusal | null {
  if (bytes <= SMALL_BYTES) return null;
  try {
    return answers.take(organizationId, bytes);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
