// Seals stored data: AES-256-GCM under the data key, bound to its place, so that bytes copied to another row
// do not open (hardening.md S31, S32).
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns nonce, ciphertext and tag of the concatenated pieces. */
export function sealBytes(key: Uint8Array, place: string, pieces: readonly Uint8Array[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(Buffer.from(place));
  const sealed = pieces.map((piece) => cipher.update(piece));
  return Buffer.concat([nonce, ...sealed, cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the bytes were changed, or belong to another place or another key. */
export function openBytes(key: Uint8Array, place: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** A short secret, in base64. */
export const sealText = (key: Uint8Array, place: string, text: string): string =>
  sealBytes(key, place, [Buffer.from(text)]).toString("base64");

/** Throws as `openBytes` does. */
export const openText = (key: Uint8Array, place: string, sealed: string): string =>
  openBytes(key, place, Buffer.from(sealed, "base64")).toString();
