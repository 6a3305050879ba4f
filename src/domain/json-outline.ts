// Counts the members and values of JSON text from its bytes, before it is parsed and without building anything, so that
// oversized, over-nested or duplicate-key text can be refused cheaply.
import type { ListSpans } from "./list-spans.ts";

export interface OutlineBounds {
  /** Most object members in all. Default: any number. */
  members?: number;
  /** Most values in all; a list or an object counts as two. Default: any number. */
  values?: number;
  /** Most levels of nesting. Default: any number. */
  depth?: number;
  /** Is told where the lists are that are members of the outermost object. */
  lists?: ListSpans | null;
}

/** What JSON text is made of. For text that is not valid JSON the counts mean nothing. */
export interface Outline {
  /** Colons outside strings: in valid JSON, the members of all objects as they were written. */
  members: number;
  /** One, plus a value for each comma and each opening bracket outside strings. */
  values: number;
  /** Most levels of nesting. */
  depth: number;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Scans JSON text in UTF-8. Returns null as soon as one of the bounds is exceeded. */
export function outlineOf(
  json: Uint8Array,
  {
    members: mostMembers = Infinity,
    values: mostValues = Infinity,
    depth: mostDepth = Infinity,
    lists = null,
  }: OutlineBounds,
): Outline | null {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const end = bytes.byteLength;
  let [members, values, depth, deepest] = [0, 1, 0, 0];
  /** Where the latest string, and the latest of the outermost level, begin. */
  let [string, name] = [0, 0];
  // Compared one by one, the most frequent first: a third faster than a `switch`.
  for (let at = 0; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      string = at;
      if (depth === 1) name = at;
      at = endOfString(bytes, at + 1);
    } else if (byte === COMMA) {
      if (++values > mostValues) return null;
      if (depth === 2) lists?.next(at);
    } else if (byte === COLON) {
      if (++members > mostMembers) return null;
      if (lists !== null && isDigit(bytes[string + 1])) lists.rough(); // such a name may change its place
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++values > mostValues || ++depth > mostDepth) return null;
      if (depth > deepest) deepest = depth;
      if (depth === 2 && byte === OPEN_BRACKET) lists?.open(name, at);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 2) lists?.close(at);
      depth -= 1;
    } else if (lists !== null) {
      if (isBlank(byte)) lists.rough();
      else if (byte === MINUS || isDigit(byte)) at = endOfNumber(bytes, at, lists);
    }
  }
  return { members, values, depth: deepest };
}

const isBlank = (byte: number): boolean =>
  byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Integers of as many digits are printed as they were written. */
const PLAIN_DIGITS_MAX = 15;

/** Index of the last byte of a number. It is plain if its digits are all there is of it. */
function endOfNumber(bytes: Buffer, from: number, lists: ListSpans): number {
  const first = bytes[from] === MINUS ? from + 1 : from;
  let at = first;
  while (isDigit(bytes[at])) at += 1;
  const digits = at - first;
  const led = bytes[first] === ZERO && (digits > 1 || first > from);
  if (led || digits === 0 || digits > PLAIN_DIGITS_MAX) lists.rough();
  for (; isOfNumber(bytes[at]); at += 1) lists.rough();
  return at - 1;
}

/** A digit, or one of `+-.eE`. */
const isOfNumber = (byte: number | undefined): boolean =>
  isDigit(byte) || byte === MINUS || byte === 0x2b || byte === 0x2e || byte === 0x45 || byte === 0x65;

/** Most strings are names or short words, which a loop reads faster than `indexOf` starts. */
const SHORT_BYTES = 48;

/** Index of the quote that ends the string, or the length of the text. `indexOf` scans a long string thirty times as fast as a loop. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  for (const near = Math.min(from + SHORT_BYTES, bytes.byteLength); at < near; at += 1) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let start = quote;
    while (start > at && bytes[start - 1] === BACKSLASH) start -= 1;
    if ((quote - start) % 2 === 0) return quote;
  }
  return bytes.byteLength;
}
