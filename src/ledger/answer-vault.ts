// Stored answers at rest: AES-256-GCM under the data key, bound to their organization and request, so that a body
// moved to another row does not open (hardening.md S31, S32).
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { StoredAnswer } from "./ledger.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Place = { organizationId: string; requestId: string };
const placeOf = ({ organizationId, requestId }: Place): Buffer =>
  Buffer.from(`${organizationId}|${requestId}`);

/** Status and headers as one line of JSON, then the exact bytes of the body: nonce, ciphertext, tag. */
export function sealAnswer(dataKey: Uint8Array, organizationId: string, answer: StoredAnswer): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", dataKey, nonce);
  cipher.setAAD(placeOf({ organizationId, requestId: answer.requestId }));
  const head = `${JSON.stringify({ status: answer.status, headers: answer.headers })}\n`;
  return Buffer.concat([
    nonce,
    cipher.update(head),
    cipher.update(answer.body),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** Throws when the bytes were changed, or belong to another request or another key. */
export function openAnswer(dataKey: Uint8Array, place: Place, sealed: Uint8Array): StoredAnswer {
  const decipher = createDecipheriv("aes-256-gcm", dataKey, sealed.subarray(0, NONCE_BYTES));
  decipher.setAAD(placeOf(place));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  const headEnd = plain.indexOf(0x0a);
  const head = JSON.parse(plain.subarray(0, headEnd).toString()) as Pick<StoredAnswer, "status" | "headers">;
  return { requestId: place.requestId, ...head, body: new Uint8Array(plain.subarray(headEnd + 1)) };
}
