// Reads a request's body within the limits, before any effect: media type and size first, then the bytes, counted
// (wire.md §6, hardening.md 47–53). Bodies are never inflated.
import { Refusal } from "../domain/refusals.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { Uploads } from "../limits/uploads.ts";

const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*(?:"utf-?8"|utf-?8))?\s*;?$/i;

/** Whose room a body takes, and how much of it there may be. */
export interface BodyTerms {
  uploads: Uploads;
  /** Who answers for it: an organization, a person, a management key. */
  account: string;
  limitBytes: number;
  /** Told once all of it is there. */
  received?(): void;
}

/** For those who have shown nothing yet: all of them share one account. */
export const STRANGERS = "strangers";

/** Media type and declared size, by the headers alone; throws 415 or 413. */
export function checkJsonBody({ headers }: Request, limitBytes: number): void {
  checkType(headers);
  if (declaredBytes(headers) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * The whole body; throws 415 or 413, 429 or 503 without room for it. The connection stays open, so that a client still
 * uploading can read the answer. Once it has been read to its end its room is free again.
 */
export async function readJsonBody(request: Request, terms: BodyTerms): Promise<Uint8Array> {
  checkJsonBody(request, terms.limitBytes);
  return await readCheckedBody(request, terms);
}

/** The same of a request whose headers have been checked: they are not read again. */
export async function readCheckedBody(request: Request, terms: BodyTerms): Promise<Uint8Array> {
  const room = terms.uploads.take(terms.account, declaredBytes(request.headers));
  try {
    const body = await bytesOf(request, room, terms);
    terms.received?.();
    return body;
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable();
  } finally {
    room.release();
  }
}

function bytesOf(request: Request, room: Room, terms: BodyTerms): Promise<Uint8Array> {
  if (request.headers.has("content-length")) return request.bytes();
  return request.body === null ? Promise.resolve(new Uint8Array()) : readCounted(request.body, room, terms);
}

/** 0 for a chunked body, which is counted while it arrives. */
const declaredBytes = (headers: Headers): number => Number(headers.get("content-length") ?? 0);

function checkType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === null || !JSON_TYPE.test(type)) {
    throw new Refusal(
      "unsupported_media_type",
      "Send the body as Content-Type: application/json, in UTF-8.",
      { param: "Content-Type" },
    );
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new Refusal(
      "unsupported_media_type",
      "Send the body without Content-Encoding; compressed bodies are not read.",
      {
        param: "Content-Encoding",
      },
    );
  }
}

async function readCounted(
  body: ReadableStream<Uint8Array>,
  room: Room,
  { limitBytes }: BodyTerms,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece);
      size += piece.byteLength;
      if (size > limitBytes) throw tooLarge(limitBytes);
      room.grow(piece.byteLength);
    }
    return Buffer.concat(pieces);
  } finally {
    for (const { buffer } of pieces) giveBack(buffer);
  }
}

/** At once: whose room is free again must not stay in memory until the collector comes. */
function giveBack(bytes: ArrayBufferLike): void {
  if (bytes instanceof ArrayBuffer) bytes.transfer(0);
}

/** A framing error makes the read reject; the parser below us answers that by itself and closes (hardening.md §1). */
const unreadable = (): Refusal =>
  new Refusal("invalid_request", "The body could not be read to its end. Send the request again.");

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal(
    "payload_too_large",
    `The body is larger than this gateway's limit of ${limitBytes} bytes. Shorten the messages.`,
  );
