// Lines on their way to a file descriptor: gathered, and written in large pieces beside the event loop, so that a line costs
// next to nothing and a reader that stalls holds nobody up: not those who write, nor the end of the process. What it does not
// take is bounded, and it is told how much it has missed.
import { write, writeSync } from "node:fs";

const PIECE_CHARACTERS = 64 * 1024;
/** What is written at once is this old at most: whoever follows the lines sees them as they come. */
const FLUSH_MS = 250;
/** What waits for a reader at most; a line beyond it is lost. */
const WAITING_CHARACTERS = 8 * 1024 * 1024;
/** A piece that has not been taken for so long meets a reader that stalls: the end of the process does not wait for it. */
const STALLED_MS = 750;
/** A descriptor that takes nothing right now is asked again. */
const TRY_AGAIN_MS = 100;
const NOT_NOW = ["EAGAIN", "EBUSY"];

/** `write` never waits and never throws. Lines beyond what may wait are lost, and the next piece says how many. */
export class LineBuffer {
  private waiting = "";
  /** What the system has not taken yet of the piece under way. */
  private underWay: Buffer | null = null;
  private underWaySinceMs = 0;
  /** Lines, since one was taken the last time. */
  private lost = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private flushed: (() => void)[] = [];
  private closed = false;

  /** `missed`: the line that tells of lines that were lost before it. */
  constructor(
    private readonly fd: number,
    private readonly missed: (lines: number) => string,
  ) {}

  write(line: string): void {
    if (this.closed) return;
    if (this.waiting.length + line.length > WAITING_CHARACTERS) {
      this.lost += 1;
      return;
    }
    this.waiting += line;
    if (this.waiting.length >= PIECE_CHARACTERS) this.send();
    else this.timer ??= setTimeout(this.send, FLUSH_MS).unref();
  }

  /** Writes what waits; `done` is called once everything up to now has been taken. */
  flush(done: () => void): void {
    this.flushed.push(done);
    this.send();
  }

  /** For the end of the process: returns once everything has been taken, or at once where nobody takes anything. */
  flushSync(): void {
    if (this.underWay !== null && performance.now() - this.underWaySinceMs > STALLED_MS) return;
    const rest = Buffer.from(this.waiting);
    this.waiting = "";
    try {
      for (let from = 0; from < rest.length; ) from += writeSync(this.fd, rest, from);
    } catch {
      // Nobody is left to be told.
    }
  }

  private readonly send = (): void => {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.underWay !== null) return; // what waits follows it
    if (this.waiting === "") {
      for (const done of this.flushed.splice(0)) done();
      return;
    }
    if (this.lost > 0) this.waiting += this.missed(this.lost);
    this.lost = 0;
    this.underWay = Buffer.from(this.waiting);
    this.underWaySinceMs = performance.now();
    this.waiting = "";
    this.writePiece();
  };

  private readonly writePiece = (): void => {
    if (this.underWay !== null) write(this.fd, this.underWay, this.taken);
  };

  private readonly taken = (error: NodeJS.ErrnoException | null, bytes: number): void => {
    if (error !== null && NOT_NOW.includes(error.code ?? "")) {
      setTimeout(this.writePiece, TRY_AGAIN_MS);
      return;
    }
    if (error === null && this.underWay !== null && bytes < this.underWay.length) {
      this.underWay = this.underWay.subarray(bytes);
      this.underWaySinceMs = performance.now();
      this.writePiece();
      return;
    }
    // A piece that cannot be written is lost, as on a full disk; a pipe without a reader takes no further one.
    if (error !== null) this.lost += linesIn(this.underWay);
    this.underWay = null;
    if (error?.code === "EPIPE") {
      this.closed = true;
      this.waiting = "";
    }
    this.send();
  };
}

const NEW_LINE = 10;

function linesIn(piece: Buffer | null): number {
  let lines = 0;
  for (const byte of piece ?? []) if (byte === NEW_LINE) lines += 1;
  return lines;
}
