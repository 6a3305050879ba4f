// What a collector answers to spans that it took: JSON as it was asked, or protobuf, as some do whatever they are asked. Anything
// else that comes with 200 (a login page, another program's port) is nobody's word that spans were taken.

/** What a collector says of a batch that it took. */
export interface Taken {
  /** How many spans it left out. */
  rejected: number;
}

/** An answer of OTLP: an object of JSON, a message of protobuf, or nothing at all. Null for whatever else a port may say. */
export function readAnswer(contentType: string | null, body: Uint8Array): Taken | null {
  if (body.byteLength === 0) return { rejected: 0 };
  if (/^application\/(x-)?protobuf\b/i.test(contentType ?? "")) return readProtobuf(body);
  return readJson(new TextDecoder().decode(body));
}

function readJson(text: string): Taken | null {
  const said = objectIn(text);
  if (said === null) return null;
  const partial = membersOf(said["partialSuccess"] ?? said["partial_success"]);
  return { rejected: countOf(partial["rejectedSpans"] ?? partial["rejected_spans"] ?? 0) };
}

type Members = Record<string, unknown>;
const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};

function objectIn(text: string): Members | null {
  try {
    const said: unknown = JSON.parse(text);
    return said === null || Array.isArray(said) || typeof said !== "object" ? null : (said as Members);
  } catch {
    return null;
  }
}

/** 64-bit numbers are texts in protobuf's JSON. */
function countOf(said: unknown): number {
  const count = Number(said);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** `partial_success`, and in it `rejected_spans`: both are the first field of their message. */
function readProtobuf(body: Uint8Array): Taken | null {
  const partial = firstField(body);
  if (partial === null) return null;
  const rejected = partial instanceof Uint8Array ? firstField(partial) : 0;
  return rejected === null ? null : { rejected: countOf(rejected) };
}

/** The last value of field 1, which counts; 0 where it is not there, null where this is no message. */
function firstField(message: Uint8Array): Uint8Array | number | null {
  const reader = { bytes: message, at: 0 };
  let found: Uint8Array | number = 0;
  while (reader.at < message.byteLength) {
    const tag = varint(reader);
    const value = tag === null ? null : valueAt(reader, tag % 8);
    if (tag === null || value === null) return null;
    if (Math.floor(tag / 8) === 1) found = value;
  }
  return found;
}

interface Reader {
  bytes: Uint8Array;
  at: number;
}

/** Null at the end of the bytes, and for a kind of value that no message has. */
function valueAt(reader: Reader, kind: number): Uint8Array | number | null {
  if (kind === 0) return varint(reader);
  const length = kind === 1 ? 8 : kind === 5 ? 4 : kind === 2 ? varint(reader) : null;
  if (length === null || reader.at + length > reader.bytes.byteLength) return null;
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

/** Ten bytes at most, seven bits in each. */
function varint(reader: Reader): number | null {
  let value = 0;
  for (let place = 0; place < 10; place += 1) {
    const byte = reader.bytes[reader.at];
    if (byte === undefined) return null;
    reader.at += 1;
    value += (byte % 128) * 2 ** (7 * place);
    if (byte < 128) return value;
  }
  return null;
}
