// The lists of a large request as their caller wrote them. Most of what agents send is a long conversation that goes upstream
// unchanged: where it is written just as we would print it, its bytes are taken over instead of printed (decision 99).
import type { ByteSpan } from "./list-spans.ts";
import type { JsonObject } from "./read-value.ts";

/** A part of JSON text: a string, or bytes in UTF-8. */
type Piece = string | Uint8Array;

/** JSON text that is still to be joined with what stands around it; in pieces if parts of a body are in it. */
export type JsonText = string | readonly Piece[];

/** A whole JSON text, as `fetch` takes it. */
export type BodyText = string | Uint8Array<ArrayBuffer>;

export class WrittenLists {
  private readonly lists = new Map<string, readonly (ByteSpan | null)[]>();
  private readonly bytes: Buffer;
  /** True if a string may be written with escapes that are not ours. */
  private readonly escapes: boolean;

  /** `value` is what the bytes say; both must not change afterwards. */
  constructor(
    body: Uint8Array,
    private readonly value: JsonObject,
    lists: ReadonlyMap<number, readonly (ByteSpan | null)[]>,
  ) {
    this.bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.escapes = mayEscape(this.bytes);
    for (const [name, spans] of lists) this.lists.set(nameAt(this.bytes, name), spans);
  }

  /**
   * The JSON text of a list, as long as `JSON.stringify(list)` and equal to it, but for the order of names: the caller's, where
   * an element is taken over. Elements that say the same as those of
   * the caller's list `name` at the same place are parts of the body.
   */
  print(name: string, list: readonly unknown[]): JsonText {
    const spans = this.lists.get(name);
    const written = this.value[name];
    if (spans === undefined || !Array.isArray(written)) return JSON.stringify(list);
    const pieces: Piece[] = [];
    let text = "[";
    let run: ByteSpan | null = null;
    for (const [index, element] of list.entries()) {
      const span = isSame(element, written[index]) ? this.plainAt(spans, index) : null;
      if (run !== null && span?.from === run.to + 1) {
        run.to = span.to; // with the comma between them
        continue;
      }
      if (run !== null) pieces.push(this.bytes.subarray(run.from, run.to));
      run = null;
      if (index > 0) text += ",";
      if (span === null) text += JSON.stringify(element);
      else {
        pieces.push(text);
        text = "";
        run = { ...span };
      }
    }
    if (run !== null) pieces.push(this.bytes.subarray(run.from, run.to));
    pieces.push(`${text}]`);
    return pieces;
  }

  private plainAt(spans: readonly (ByteSpan | null)[], index: number): ByteSpan | null {
    const span = spans[index] ?? null;
    return span === null || (this.escapes && mayEscape(this.bytes.subarray(span.from, span.to)))
      ? null
      : span;
  }
}

/** We print neither; only control characters have no other form. */
const mayEscape = (bytes: Buffer): boolean => bytes.includes("\\u") || bytes.includes("\\/");

const QUOTE = 0x22;

/** A name with escapes comes out as another one, which no list has. */
const nameAt = (bytes: Buffer, from: number): string =>
  bytes.toString("utf8", from + 1, bytes.indexOf(QUOTE, from + 1));

/** True if both say the same, whatever the order of their names; `other` was read from JSON. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return one !== undefined && Object.is(one, other);
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, at) => isSame(value, other[at]))
    );
  let names = 0;
  for (const name in one) {
    if (!isSame((one as JsonObject)[name], (other as JsonObject)[name])) return false;
    names += 1;
  }
  for (const _ in other) names -= 1;
  return names === 0;
}

/** The JSON text of an object's members, without its braces: as `JSON.stringify` prints it, but for the order of names in lists that were taken over. */
export function printMembers(fields: JsonObject, written: WrittenLists | null): JsonText {
  if (written === null) return JSON.stringify(fields).slice(1, -1);
  const pieces: Piece[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    pieces.push(`${pieces.length === 0 ? "" : ","}${JSON.stringify(name)}:`);
    const text = Array.isArray(value) ? written.print(name, value) : JSON.stringify(value);
    if (typeof text === "string") pieces.push(text);
    else pieces.push(...text);
  }
  return pieces;
}

/** Bytes of the text in UTF-8. */
export function textBytes(text: JsonText): number {
  if (typeof text === "string") return Buffer.byteLength(text);
  let bytes = 0;
  for (const piece of text) bytes += typeof piece === "string" ? Buffer.byteLength(piece) : piece.byteLength;
  return bytes;
}

/** One text of all of them: a string unless one is in pieces. */
export function joined(...texts: readonly JsonText[]): BodyText {
  let whole = "";
  for (const text of texts) {
    if (typeof text !== "string") return inBytes(texts.flat());
    whole += text;
  }
  return whole;
}

function inBytes(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const text = Buffer.allocUnsafeSlow(textBytes(pieces));
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") at += text.write(piece, at);
    else {
      text.set(piece, at);
      at += piece.byteLength;
    }
  }
  return text;
}
