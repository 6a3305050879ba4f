// Room for an answer that may be large (docs/decisions/0050-texts-and-vectors.md): taken when its credits are held and
// nobody is paid yet, given back when its client has it.
import { Refusal } from "../domain/refusals.ts";
import type { LargeAnswers } from "../limits/large-answers.ts";
import type { Hold } from "./hold.ts";

/** What is not longer, one vector for example, is not more than an answer in words. */
const SMALL_BYTES = 128 * 1024;

/** Takes the room that the request's answer may need; the refusal where there is none. */
export function takeRoom(answers: LargeAnswers, hold: Hold): Refusal | null {
  const { candidates, organizationId } = hold.admitted;
  let bytes = 0;
  for (const { body } of candidates) bytes = Math.max(bytes, body.answerBytes ?? 0);
  if (bytes <= SMALL_BYTES) return null;
  try {
    hold.room = answers.take(organizationId, bytes);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
