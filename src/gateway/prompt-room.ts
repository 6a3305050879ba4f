// Room in memory for a request's body, by its weight once parsed (docs/decisions/0086-a-body-weighs-what-it-becomes.md). Weighed
// before it is parsed; a large body when its turn comes, as it is also read then.
import { type ReceivedBody, tooManyValues } from "../domain/received-body.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { Pacer } from "../limits/pacer.ts";
import type { Prompts } from "../limits/prompts.ts";
import { SMALL_BODY_BYTES } from "../limits/uploads.ts";

/** Whatever values a body of this size has, it takes no more memory than the rest of its request. */
const LIGHT_BYTES = 4 * 1024;

export interface PromptRoomPorts {
  prompts: Prompts;
  pacer: Pacer;
}

interface Prompt {
  organizationId: string;
  body: ReceivedBody;
  /** The client's signal. */
  signal: AbortSignal;
}

/**
 * Null: the body needs no room. 400 if it has too many fields or values, 429 if the organization has too much in progress, 503 if
 * all together have. Rejects with a `Refusal` if the client of a large body has left before.
 */
export function promptRoom(
  ports: PromptRoomPorts,
  prompt: Prompt,
): Room | Refusal | null | Promise<Room | Refusal | null> {
  const { organizationId, body } = prompt;
  const size = body.bytes.byteLength;
  if (size <= LIGHT_BYTES) return null;
  if (size > SMALL_BODY_BYTES) return roomOfLarge(ports, prompt);
  return roomOf(ports.prompts, organizationId, body.weight());
}

/** While it waits for its turn it has room for its text. */
async function roomOfLarge(
  { prompts, pacer }: PromptRoomPorts,
  { organizationId, body, signal }: Prompt,
): Promise<Room | Refusal | null> {
  const bytes = body.bytes.byteLength;
  const text = prompts.roomOf(organizationId, bytes);
  if (text instanceof Refusal) return text;
  let weight: number | null;
  try {
    weight = await pacer.run({ organizationId, bytes, signal }, () => body.weight());
  } finally {
    text?.release();
  }
  return roomOf(prompts, organizationId, weight);
}

const roomOf = (prompts: Prompts, organizationId: string, weight: number | null): Room | Refusal | null =>
  weight === null ? tooManyValues() : prompts.roomOf(organizationId, weight);

/** For questions about a call. Throws `Refusal` if there is no room. */
export async function withPromptRoom<T>(
  ports: PromptRoomPorts,
  prompt: Prompt,
  work: () => Promise<T>,
): Promise<T> {
  const room = await promptRoom(ports, prompt);
  if (room instanceof Refusal) throw room;
  try {
    return await work();
  } finally {
    room?.release();
  }
}
