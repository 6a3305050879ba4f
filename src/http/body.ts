// Reads a request's body within the limits, before any effect: checks media type and size, then counts the bytes
// (wire.md §6, hardening.md 47–53). Bodies are never decompressed.
import { Refusal } from "../domain/refusals.ts";
import { Pieces } from "./pieces.ts";
import type { Room } from "../limits/byte-rooms.ts";
import { networkOf } from "../lib/networks.ts";
import type { BodyRooms, Uploads } from "../limits/uploads.ts";

const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*(?:"utf-?8"|utf-?8))?\s*;?$/i;

/** To whom a body is accounted, and how large it may be. */
export interface BodyTerms {
  uploads: BodyRooms;
  /** An organization, a person, a management key, or the network of an unauthenticated client and the endpoint it uses. */
  account: string;
  limitBytes: number;
  /** Called when the body is complete. */
  received?(): void;
}

/** Accounts the bodies of unauthenticated clients by endpoint and network, so that neither exhausts the room of another. */
export const strangersRoom = (
  { strangers }: Pick<Uploads, "strangers">,
  door: string,
  address: string | null,
): Pick<BodyTerms, "uploads" | "account"> => ({
  uploads: strangers,
  account: `${door} ${address === null ? "" : networkOf(address)}`,
});

/** Checks media type and declared size from the headers alone; throws 415 or 413. */
export function checkJsonBody({ headers }: Request, limitBytes: number): void {
  checkType(headers);
  if ((declaredBytes(headers) ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Returns the whole body; throws 415 or 413, or 429 or 503 if there is no room for it. The server waits for the rest, so that
 * a client that is still uploading can read the response (`linger.ts`). The room is released when the body has been read.
 */
export async function readJsonBody(request: Request, terms: BodyTerms): Promise<Uint8Array> {
  checkJsonBody(request, terms.limitBytes);
  return await readCheckedBody(request, terms);
}

/** The same for a request whose headers were checked before. */
export async function readCheckedBody(request: Request, terms: BodyTerms): Promise<Uint8Array> {
  const { uploads, account } = terms;
  const declared = declaredBytes(request.headers);
  const atOnce = declared !== null && declared <= uploads.atOnceBytes ? declared : null;
  const room = uploads.take(account, atOnce);
  try {
    const body = await (atOnce === null ? readCounted(request, room, terms) : request.bytes());
    terms.received?.();
    return body;
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable();
  } finally {
    room.release();
  }
}

/** Null for a chunked body, and if there is no body. */
function declaredBytes(headers: Headers): number | null {
  const declared = headers.get("content-length");
  return declared === null ? null : Number(declared);
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
  if (encoding !== null && !["", "identity"].includes(encoding.toLowerCase())) {
    throw new Refusal(
      "unsupported_media_type",
      "Send the body without Content-Encoding; compressed bodies are not read.",
      {
        param: "Content-Encoding",
      },
    );
  }
}

/** Takes room as bytes arrive, so that a declared length alone keeps nobody out. If it throws, the rest is still to come. */
async function readCounted({ body }: Request, room: Room, { limitBytes }: BodyTerms): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const pieces = new Pieces();
  try {
    for await (const piece of body.values({ preventCancel: true })) {
      pieces.add(piece);
      if (pieces.size > limitBytes) throw tooLarge(limitBytes);
      room.grow(piece.byteLength);
    }
    return pieces.whole();
  } finally {
    pieces.giveBack();
  }
}

/** Reading rejects after a framing error, which Bun's parser answers itself before it closes (hardening.md §1). */
const unreadable = (): Refusal =>
  new Refusal("invalid_request", "The body could not be read to its end. Send the request again.");

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal(
    "payload_too_large",
    `The body is larger than this gateway's limit of ${limitBytes} bytes. Shorten the messages.`,
  );
