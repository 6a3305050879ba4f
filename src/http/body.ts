// Reads a request's body within the limits, before any effect: media type and size first, then the bytes, counted
// (wire.md §6, hardening.md 47–53). Bodies are never inflated.
import { Refusal } from "../domain/refusals.ts";
import { Pieces } from "./pieces.ts";
import type { Room } from "../limits/byte-rooms.ts";
import { networkOf } from "../lib/networks.ts";
import type { BodyRooms, Uploads } from "../limits/uploads.ts";

const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*(?:"utf-?8"|utf-?8))?\s*;?$/i;

/** Whose room a body takes, and how much of it there may be. */
export interface BodyTerms {
  uploads: BodyRooms;
  /** Who answers for it: an organization, a person, a management key, or a stranger's network at one door. */
  account: string;
  limitBytes: number;
  /** Told once all of it is there. */
  received?(): void;
}

/** The room of those who have shown nothing yet: nobody's is used up at another door, or from another network. */
export const strangersRoom = (
  { strangers }: Pick<Uploads, "strangers">,
  door: string,
  address: string | null,
): Pick<BodyTerms, "uploads" | "account"> => ({
  uploads: strangers,
  account: `${door} ${address === null ? "" : networkOf(address)}`,
});

/** Media type and declared size, by the headers alone; throws 415 or 413. */
export function checkJsonBody({ headers }: Request, limitBytes: number): void {
  checkType(headers);
  if ((declaredBytes(headers) ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * The whole body; throws 415 or 413, 429 or 503 without room for it. The server waits for the rest, so that a client
 * still uploading can read the answer (`linger.ts`). Once it has been read to its end its room is free again.
 */
export async function readJsonBody(request: Request, terms: BodyTerms): Promise<Uint8Array> {
  checkJsonBody(request, terms.limitBytes);
  return await readCheckedBody(request, terms);
}

/** The same of a request whose headers have been checked: they are not read again. */
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

/** Null for a chunked body, and where there is none. */
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

/** Takes room as it comes: what is only declared costs nothing, and keeps nobody out. Where it throws, the rest is still to come. */
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

/** A framing error makes the read reject; the parser below us answers that by itself and closes (hardening.md §1). */
const unreadable = (): Refusal =>
  new Refusal("invalid_request", "The body could not be read to its end. Send the request again.");

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal(
    "payload_too_large",
    `The body is larger than this gateway's limit of ${limitBytes} bytes. Shorten the messages.`,
  );
