// A large answer on its way: sent as fast as its client reads, and its room given back when it has gone, or the client has.
import type { Room } from "../limits/byte-rooms.ts";

const PIECE_BYTES = 256 * 1024;

/** The body of such an answer; `client` aborts when its socket closes. */
export function largeAnswer(
  body: string | Uint8Array,
  room: Room,
  client: AbortSignal,
): AsyncIterable<Uint8Array> {
  const release = (): void => room.release();
  // A client that has gone before the first piece is pulled would leave it taken.
  if (client.aborted) release();
  else client.addEventListener("abort", release, { once: true });
  return pieces(typeof body === "string" ? Buffer.from(body) : body, room);
}

async function* pieces(bytes: Uint8Array, room: Room): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  } finally {
    room.release();
  }
}
