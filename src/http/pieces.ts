// Collects a body as it arrives. Each chunk of the sender's framing, perhaps one byte, arrives as an array of its own that weighs
// hundreds of bytes and takes a turn to read. Small ones are copied into shared buffers, and too many of them end the connection
// (hardening.md §1).
import { Refusal } from "../domain/refusals.ts";
import { giveBack } from "./give-back.ts";

/** For a body that is read. */
const FREE_PIECES = 8_192;
/** One more piece is allowed for every so many bytes: senders of larger pieces never reach the limit. */
const BYTES_A_PIECE = 64;

/** Pieces of at least this size are kept as they came. */
const LARGE_PIECE_BYTES = 4 * 1024;
/** Sizes of the buffers for small pieces: the first, then each twice the last one up to the maximum. */
const FIRST_BUFFER_BYTES = 1024;
const LAST_BUFFER_BYTES = 64 * 1024;

/** Whether this many pieces are too many for the bytes that they hold. */
export const tooManyPieces = (count: number, bytes: number, free = FREE_PIECES): boolean =>
  count > free + bytes / BYTES_A_PIECE;

/** The pieces of one body read so far. */
export class Pieces {
  /** Total bytes received. */
  size = 0;
  private count = 0;
  private readonly kept: Uint8Array[] = [];
  private buffer = new Uint8Array(0);
  private used = 0;

  /** Throws `Refusal` 400 if there are too many pieces for the bytes that they hold. */
  add(piece: Uint8Array): void {
    this.size += piece.byteLength;
    this.count += 1;
    if (tooManyPieces(this.count, this.size)) throw tooTiny();
    if (piece.byteLength < LARGE_PIECE_BYTES) return this.gather(piece);
    this.closeBuffer();
    this.kept.push(piece);
  }

  /** The whole body in one array, which `giveBack` does not free. */
  whole(): Uint8Array {
    this.closeBuffer();
    const only = this.kept.length === 1 ? this.kept.pop() : undefined;
    return only ?? Buffer.concat(this.kept, this.size);
  }

  /** Frees the memory of the pieces. */
  giveBack(): void {
    this.closeBuffer();
    for (const piece of this.kept.splice(0)) giveBack(piece);
  }

  private gather(piece: Uint8Array): void {
    if (this.used + piece.byteLength > this.buffer.byteLength) {
      const next = Math.min(Math.max(2 * this.buffer.byteLength, FIRST_BUFFER_BYTES), LAST_BUFFER_BYTES);
      this.closeBuffer();
      this.buffer = new Uint8Array(Math.max(next, piece.byteLength));
    }
    this.buffer.set(piece, this.used);
    this.used += piece.byteLength;
  }

  private closeBuffer(): void {
    if (this.used > 0) this.kept.push(this.buffer.subarray(0, this.used));
    this.buffer = new Uint8Array(0);
    this.used = 0;
  }
}

const tooTiny = (): Refusal =>
  new Refusal(
    "invalid_request",
    `The body came in too many tiny chunks. Send chunks of ${BYTES_A_PIECE} bytes or more, or a Content-Length.`,
  );
