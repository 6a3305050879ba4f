// The exact bytes of a keyed stream, kept for its replay (money.md §8.6). Past the cap nothing is kept: the retry is
// told so, and money is unaffected.

/** One stored result holds at most this much (money.md §8.10). */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

export class KeptStream {
  private pieces: string[] | null;
  private size = 0;

  constructor(keyed: boolean) {
    this.pieces = keyed ? [] : null;
  }

  /** Keeps the text if it is to be kept, and returns it. */
  add(text: string): string {
    if (this.pieces === null) return text;
    this.size += Buffer.byteLength(text);
    if (this.size > KEPT_BYTES_MAX) this.pieces = null;
    else this.pieces.push(text);
    return text;
  }

  /** All kept bytes; null when nothing is kept. */
  bytes(): Uint8Array | null {
    return this.pieces === null ? null : Buffer.from(this.pieces.join(""));
  }
}
