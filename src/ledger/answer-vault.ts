// Stored answers at rest: AES-256-GCM under the data key, bound to their organization, request and place in it, so that
// bytes moved to another row do not open (hardening.md S31, S32).
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { StoredAnswer } from "./ledger.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Place = { organizationId: string; requestId: string };
type Chunk = { seq: number; bytes: Uint8Array };

const ofAnswer = ({ organizationId, requestId }: Place): string => `${organizationId}|${requestId}`;
const ofChunk = (place: Place, seq: number): string => `${ofAnswer(place)}|${seq}`;

/** Status and headers as one line of JSON, then the exact bytes of the body. */
export function sealAnswer(dataKey: Uint8Array, organizationId: string, answer: StoredAnswer): Uint8Array {
  const { requestId, status, headers, body } = answer;
  const head = Buffer.from(`${JSON.stringify({ status, headers })}\n`);
  return seal(dataKey, ofAnswer({ organizationId, requestId }), [head, body]);
}

/** Throws when the bytes were changed, or belong to another request or another key. */
export function openAnswer(dataKey: Uint8Array, place: Place, sealed: Uint8Array): StoredAnswer {
  const plain = open(dataKey, ofAnswer(place), sealed);
  const headEnd = plain.indexOf(0x0a);
  const head = JSON.parse(plain.subarray(0, headEnd).toString()) as Pick<StoredAnswer, "status" | "headers">;
  return { requestId: place.requestId, ...head, body: new Uint8Array(plain.subarray(headEnd + 1)) };
}

/** A part of a running stream. */
export const sealChunk = (dataKey: Uint8Array, place: Place, { seq, bytes }: Chunk): Uint8Array =>
  seal(dataKey, ofChunk(place, seq), [bytes]);

/** Throws as `openAnswer` does, and for bytes of another place in the stream. */
export const openChunk = (dataKey: Uint8Array, place: Place, chunk: Chunk): Uint8Array =>
  open(dataKey, ofChunk(place, chunk.seq), chunk.bytes);

/** Nonce, ciphertext, tag. */
function seal(dataKey: Uint8Array, place: string, texts: readonly Uint8Array[]): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", dataKey, nonce);
  cipher.setAAD(Buffer.from(place));
  const sealed = texts.map((text) => cipher.update(text));
  return Buffer.concat([nonce, ...sealed, cipher.final(), cipher.getAuthTag()]);
}

function open(dataKey: Uint8Array, place: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", dataKey, sealed.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}
