// Reads `application/vnd.amazon.eventstream` from bytes: length-prefixed messages with named headers and two
// checksums each. Bounded: a message longer than any event is a broken upstream, not a growing buffer (money.md §12,
// fault 52).
import type { Framing } from "../codec.ts";
import { Failure } from "../failure.ts";
import { EVENT_CHARACTERS_MAX } from "../http/sse.ts";

export interface BedrockEvent {
  /** `event`, or how the stream ends: `exception`, `error`. */
  kind: string;
  /** The event's or the exception's type. */
  type: string;
  /** JSON text; for `error`, its message. */
  payload: string;
}

/** Total length, length of the headers, checksum of the two. */
const PRELUDE = 12;
const CHECKSUM = 4;
const MESSAGE_MAX = EVENT_CHARACTERS_MAX;
const HEADERS_MAX = 128 * 1024;

type Named = Record<string, string>;

/** The messages of one response; after a `Failure` it returns nothing more. */
export class BedrockEvents implements Framing<BedrockEvent> {
  /** Bytes of the incomplete message: the first `length` bytes of a buffer that grows by doubling. */
  private kept = Buffer.alloc(0);
  private length = 0;
  private failure: Failure | null = null;
  /** The headers of the last message, cached since most messages have the same ones. */
  private last: { bytes: Buffer; named: Named } | null = null;

  push(bytes: Uint8Array): BedrockEvent[] {
    if (this.failure !== null) throw this.failure;
    const events: BedrockEvent[] = [];
    try {
      this.split(this.joined(bytes), events);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.failure = error;
      if (events.length === 0) throw error;
    }
    return events;
  }

  /** Returns the kept bytes and the new ones as one buffer; copies nothing if nothing was kept. */
  private joined(bytes: Uint8Array): Buffer {
    if (this.length === 0) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = this.length + bytes.byteLength;
    if (length > this.kept.length) {
      const room = Buffer.allocUnsafe(Math.max(length, 2 * this.kept.length));
      this.kept.copy(room, 0, 0, this.length);
      this.kept = room;
    }
    this.kept.set(bytes, this.length);
    this.length = length;
    return this.kept.subarray(0, length);
  }

  private split(bytes: Buffer, events: BedrockEvent[]): void {
    let start = 0;
    while (bytes.length - start >= PRELUDE) {
      const end = start + sizeOf(bytes, start);
      if (bytes.length < end) {
        requirePrelude(bytes, start);
        break;
      }
      events.push(this.message(bytes, start, end));
      start = end;
    }
    this.keep(bytes, start);
  }

  private keep(bytes: Buffer, start: number): void {
    const left = bytes.length - start;
    if (start === 0 && this.length > 0) return; // already in the buffer
    if (left > this.kept.length) this.kept = Buffer.allocUnsafe(left);
    bytes.copy(this.kept, 0, start);
    this.length = left;
  }

  private message(bytes: Buffer, start: number, end: number): BedrockEvent {
    const close = end - CHECKSUM;
    if (Bun.hash.crc32(bytes.subarray(start, close)) !== bytes.readUInt32BE(close))
      throw damaged("a checksum");
    const payload = start + PRELUDE + bytes.readUInt32BE(start + 4);
    const named = this.headers(bytes, start + PRELUDE, payload);
    const kind = named[":message-type"] ?? "event";
    const text = bytes.toString("utf8", payload, close);
    if (kind === "event") return { kind, type: named[":event-type"] ?? "", payload: text };
    if (kind === "exception") return { kind, type: named[":exception-type"] ?? "", payload: text };
    return { kind: "error", type: named[":error-code"] ?? "", payload: named[":error-message"] ?? "" };
  }

  private headers(bytes: Buffer, start: number, end: number): Named {
    const { last } = this;
    if (last !== null && bytes.compare(last.bytes, 0, last.bytes.length, start, end) === 0) return last.named;
    const own = Buffer.from(bytes.subarray(start, end));
    this.last = { bytes: own, named: headersOf(own) };
    return this.last.named;
  }
}

/** Returns the size of the message that begins here, if it is within all bounds. */
function sizeOf(bytes: Buffer, start: number): number {
  const size = bytes.readUInt32BE(start);
  const headers = bytes.readUInt32BE(start + 4);
  if (size > MESSAGE_MAX)
    throw new Failure("broken", "unknown", "the upstream sent an event that does not end");
  if (headers > HEADERS_MAX || PRELUDE + headers + CHECKSUM > size) throw damaged("a length");
  return size;
}

/** Checks the prelude before anything waits for as many bytes as it says; a whole message's own checksum covers it too. */
function requirePrelude(bytes: Buffer, start: number): void {
  const end = start + PRELUDE - CHECKSUM;
  if (Bun.hash.crc32(bytes.subarray(start, end)) !== bytes.readUInt32BE(end))
    throw damaged("not a message of an event stream");
}

const damaged = (what: string): Failure =>
  new Failure("broken", "unknown", `the upstream's event stream is damaged: ${what}`);

/** Bytes of a header's value by its type; values of the two types in the middle have their own length. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, null, null, 8, 16] as const;
const TEXT = 7;

/** Returns the headers with text values, by name. */
function headersOf(bytes: Buffer): Named {
  const named: Named = Object.create(null) as Named;
  let at = 0;
  const need = (count: number): void => {
    if (at + count > bytes.length) throw damaged("a header");
  };
  while (at < bytes.length) {
    const nameBytes = bytes.readUInt8(at);
    at += 1;
    need(nameBytes + 1);
    const name = bytes.toString("utf8", at, at + nameBytes);
    const type = bytes.readUInt8(at + nameBytes);
    at += nameBytes + 1;
    let size: number | null | undefined = VALUE_BYTES[type];
    if (size === undefined) throw damaged("a header");
    if (size === null) {
      need(2);
      size = bytes.readUInt16BE(at);
      at += 2;
    }
    need(size);
    if (type === TEXT) named[name] = bytes.toString("utf8", at, at + size);
    at += size;
  }
  return named;
}
