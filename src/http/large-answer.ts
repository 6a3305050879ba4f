// Sends a large answer as fast as its client reads, and gives its room back when it has been sent or the client has left.
import type { Room } from "../limits/byte-rooms.ts";

const PIECE_BYTES = 256 * 1024;

interface Sending {
  room: Room;
  /** Aborts when the client's socket closes. */
  client: AbortSignal;
  /** Called when the last piece has been taken. */
  sent: (() => void) | undefined;
}

/** The body of such an answer. */
export function largeAnswer(
  body: string | Uint8Array,
  { room, client, sent }: Sending,
): AsyncIterable<Uint8Array> {
  const release = (): void => room.release();
  // Otherwise a client that left before the first pull would leave the room taken.
  if (client.aborted) release();
  else client.addEventListener("abort", release, { once: true });
  return pieces(typeof body === "string" ? Buffer.from(body) : body, { room, sent });
}

async function* pieces(
  bytes: Uint8Array,
  { room, sent }: Pick<Sending, "room" | "sent">,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
    sent?.();
  } finally {
    room.release();
  }
}
