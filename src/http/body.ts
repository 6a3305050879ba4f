// Reads a request's body within the limits, before any effect: media type and size first, then the bytes, counted
// (wire.md §6, hardening.md 47–53). Bodies are never inflated.
import { Refusal } from "../contract/refusals.ts";

const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*(?:"utf-8"|utf-8))?\s*;?$/i;

/** The whole body; throws 415 or 413. The connection stays open, so that a client still uploading can read the answer. */
export async function readJsonBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  checkType(request.headers);
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > limitBytes) throw tooLarge(limitBytes);
    return await received(request.bytes());
  }
  return request.body === null ? new Uint8Array() : await received(readCounted(request.body, limitBytes));
}

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

async function readCounted(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > limitBytes) throw tooLarge(limitBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** A framing error makes the read reject; the parser below us answers that by itself and closes (hardening.md §1). */
async function received(bytes: Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await bytes;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("invalid_request", "The body could not be read to its end. Send the request again.");
  }
}

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal(
    "payload_too_large",
    `The body is larger than this gateway's limit of ${limitBytes} bytes. Shorten the messages.`,
  );
