// Reads one HTTP/1.1 reply from the pieces a socket delivers: status, body length, and for streams the number of events
// and the time of the first one. Counts an event at each blank line, wherever pieces and chunks are cut.

export interface Reply {
  status: number;
  bodyBytes: number;
  events: number;
  /** `performance.now()` of the first event of a stream, or of the head for other replies. */
  firstByteAtMs: number;
  endedAtMs: number;
  /** Empty unless the caller asked to keep it. */
  body: string;
  closes: boolean;
}

type Stage = "head" | "sized" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "done";
const NEWLINE = 10;

export class ReplyReader {
  events = 0;
  #stage: Stage = "head";
  #head = "";
  #line = "";
  #left = 0;
  #status = 0;
  #closes = false;
  #bodyBytes = 0;
  #firstByteAtMs = 0;
  #previousByte = 0;
  #isStream = false;
  readonly #kept: Uint8Array[] | null;

  constructor(keepBody: boolean) {
    this.#kept = keepBody ? [] : null;
  }

  /** Takes the next piece; returns the reply once it is complete, else null. */
  push(bytes: Uint8Array): Reply | null {
    let at = 0;
    while (at < bytes.byteLength && this.#stage !== "done") at = this.#step(bytes, at);
    return this.#stage === "done" ? this.#reply() : null;
  }

  #step(bytes: Uint8Array, at: number): number {
    switch (this.#stage) {
      case "head":
        return this.#readHead(bytes, at);
      case "sized":
      case "chunk":
        return this.#readBody(bytes, at);
      case "chunk-size":
      case "chunk-end":
      case "trailer":
        return this.#readLine(bytes, at);
      case "done":
        return bytes.byteLength;
    }
  }

  #readHead(bytes: Uint8Array, at: number): number {
    const before = this.#head.length;
    this.#head += Buffer.from(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at).toString("latin1");
    const end = this.#head.indexOf("\r\n\r\n");
    if (end < 0) return bytes.byteLength;
    const head = this.#head.slice(0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    this.#closes = head.includes("\r\nconnection: close");
    this.#isStream = head.includes("text/event-stream");
    this.#firstByteAtMs = this.#isStream ? 0 : performance.now();
    const chunked = head.includes("\r\ntransfer-encoding: chunked");
    this.#left = chunked ? 0 : Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    this.#stage = chunked ? "chunk-size" : this.#left > 0 ? "sized" : "done";
    return at + end + 4 - before;
  }

  #readLine(bytes: Uint8Array, at: number): number {
    const end = bytes.indexOf(NEWLINE, at);
    const stop = end < 0 ? bytes.byteLength : end + 1;
    for (let index = at; index < stop; index += 1) this.#line += String.fromCharCode(bytes[index] ?? 0);
    if (end < 0) return stop;
    const line = this.#line.trim();
    this.#line = "";
    if (this.#stage === "chunk-end") this.#stage = "chunk-size";
    else if (this.#stage === "trailer") this.#stage = line === "" ? "done" : "trailer";
    else {
      this.#left = Number.parseInt(line, 16);
      this.#stage = this.#left > 0 ? "chunk" : "trailer";
    }
    return stop;
  }

  #readBody(bytes: Uint8Array, at: number): number {
    const stop = Math.min(bytes.byteLength, at + this.#left);
    if (this.#isStream) this.#countEvents(bytes, at, stop);
    this.#kept?.push(bytes.slice(at, stop));
    this.#bodyBytes += stop - at;
    this.#left -= stop - at;
    if (this.#left === 0) this.#stage = this.#stage === "sized" ? "done" : "chunk-end";
    return stop;
  }

  #countEvents(bytes: Uint8Array, from: number, stop: number): void {
    if (this.#firstByteAtMs === 0) this.#firstByteAtMs = performance.now();
    let previous = this.#previousByte;
    for (let index = from; index < stop; index += 1) {
      const byte = bytes[index] ?? 0;
      const blankLine = byte === NEWLINE && previous === NEWLINE;
      if (blankLine) this.events += 1;
      previous = blankLine ? 0 : byte;
    }
    this.#previousByte = previous;
  }

  #reply(): Reply {
    return {
      status: this.#status,
      bodyBytes: this.#bodyBytes,
      events: this.events,
      firstByteAtMs: this.#firstByteAtMs,
      endedAtMs: performance.now(),
      body: this.#kept === null ? "" : Buffer.concat(this.#kept).toString(),
      closes: this.#closes,
    };
  }
}
