// Buffers lines for a file descriptor and writes them in large pieces outside the event loop, so that a line
// costs next to nothing and a stalled reader blocks neither the writers nor the end of the process. The
// buffer is bounded, and the output states how many lines were lost.
import { write, writeSync } from "node:fs";

const PIECE_CHARACTERS = 64 * 1024;
/** The maximum age of buffered lines, so that somebody following the output sees them promptly. */
const FLUSH_MS = 250;
/** The maximum buffered for a slow reader; further lines are lost. */
const WAITING_CHARACTERS = 8 * 1024 * 1024;
/**
 * A piece pending for longer means that the reader has stalled: the end of the process does not wait for it.
 */
const STALLED_MS = 750;
/** The delay before a descriptor that currently accepts nothing is retried. */
const TRY_AGAIN_MS = 100;
const NOT_NOW = ["EAGAIN", "EBUSY"];

/**
 * `write` never waits and never throws. Lines beyond the buffer's limit are lost, and the next piece states
 * how many.
 */
export class LineBuffer {
  private waiting = "";
  /** The part of the current piece that the system has not accepted yet. */
  private underWay: Buffer | null = null;
  private underWaySinceMs = 0;
  /** Lines lost since one was last accepted. */
  private lost = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private flushed: (() => void)[] = [];
  private closed = false;

  /** `missed`: prints the line that reports lines lost before it. */
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

  /** Writes the buffered lines; `done` is called once everything up to now has been accepted. */
  flush(done: () => void): void {
    this.flushed.push(done);
    this.send();
  }

  /**
   * For the end of the process: returns once everything has been accepted, or immediately if the reader has
   * stalled.
   */
  flushSync(): void {
    if (this.underWay !== null && performance.now() - this.underWaySinceMs > STALLED_MS) return;
    const rest = Buffer.from(this.waiting);
    this.waiting = "";
    try {
      for (let from = 0; from < rest.length; ) from += writeSync(this.fd, rest, from);
    } catch {
      // There is nobody left to report to.
    }
  }

  private readonly send = (): void => {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.underWay !== null) return; // buffered lines follow it
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
    // A piece that cannot be written is lost, as on a full disk; a pipe without a reader accepts no further
    // one.
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
