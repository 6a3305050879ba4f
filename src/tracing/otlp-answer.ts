// Reads a collector's response to accepted spans: JSON as requested, or protobuf, which some send whatever is
// requested. Anything else with status 200 (a login page, another program's port) does not prove that spans were
// accepted.
import { isJsonObject, type JsonObject } from "../domain/read-value.ts";

/** A collector's response to an accepted batch. */
export interface Taken {
  /** How many spans it rejected. */
  rejected: number;
  /** The reason, in its own words, on one line of at most 300 characters; null if it gives none. */
  reason: string | null;
}

const REASON_CHARACTERS_MAX = 300;

/** Reads an OTLP response: a JSON object, a protobuf message, or an empty body. Returns null for anything else. */
export function readAnswer(contentType: string | null, body: Uint8Array): Taken | null {
  if (body.byteLength === 0) return { rejected: 0, reason: null };
  if (/^application\/(x-)?protobuf\b/i.test(contentType ?? "")) return readProtobuf(body);
  return readJson(new TextDecoder().decode(body));
}

function readJson(text: string): Taken | null {
  const said = objectIn(text);
  if (said === null) return null;
  const partial = membersOf(said["partialSuccess"] ?? said["partial_success"]);
  return {
    rejected: countOf(partial["rejectedSpans"] ?? partial["rejected_spans"] ?? 0),
    reason: reasonOf(partial["errorMessage"] ?? partial["error_message"]),
  };
}

const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

function objectIn(text: string): JsonObject | null {
  try {
    const said: unknown = JSON.parse(text);
    return isJsonObject(said) ? said : null;
  } catch {
    return null;
  }
}

/** Protobuf's JSON encodes 64-bit numbers as strings. */
function countOf(said: unknown): number {
  const count = Number(said);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Control characters and line breaks become blanks, since the text goes into our log. */
function reasonOf(said: unknown): string | null {
  if (typeof said !== "string") return null;
  const line = said.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line === "" ? null : Array.from(line).slice(0, REASON_CHARACTERS_MAX).join("");
}

/** `partial_success` is field 1; in it `rejected_spans` is field 1, `error_message` field 2. */
function readProtobuf(body: Uint8Array): Taken | null {
  const partial = fieldOf(body, 1);
  if (partial === null) return null;
  if (!(partial instanceof Uint8Array)) return { rejected: 0, reason: null };
  const rejected = fieldOf(partial, 1);
  const reason = fieldOf(partial, 2);
  if (rejected === null || reason === null) return null;
  const text = reason instanceof Uint8Array ? new TextDecoder().decode(reason) : null;
  return { rejected: countOf(rejected), reason: reasonOf(text) };
}

/** Returns the last value of the field, which is the one that counts; 0 if it is absent, null if this is not a message. */
function fieldOf(message: Uint8Array, number: number): Uint8Array | number | null {
  const reader = { bytes: message, at: 0 };
  let found: Uint8Array | number = 0;
  while (reader.at < message.byteLength) {
    const tag = varint(reader);
    const value = tag === null ? null : valueAt(reader, tag % 8);
    if (tag === null || value === null) return null;
    if (Math.floor(tag / 8) === number) found = value;
  }
  return found;
}

interface Reader {
  bytes: Uint8Array;
  at: number;
}

/** Returns null at the end of the bytes, and for an unknown wire type. */
function valueAt(reader: Reader, kind: number): Uint8Array | number | null {
  if (kind === 0) return varint(reader);
  const length = kind === 1 ? 8 : kind === 5 ? 4 : kind === 2 ? varint(reader) : null;
  if (length === null || reader.at + length > reader.bytes.byteLength) return null;
  reader.at += length;
  return reader.bytes.subarray(reader.at - length, reader.at);
}

/** At most ten bytes, seven bits in each. */
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
