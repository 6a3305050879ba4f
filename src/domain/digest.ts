// Digests are compared in constant time over their full length (hardening S3). A comparison is made even if nothing is stored, so
// that refusing an unknown key takes as long as refusing a wrong one.
import { timingSafeEqual } from "node:crypto";

/** SHA-256, 32 bytes; no known secret has this digest. */
const NO_DIGEST = new Uint8Array(32);

/** True for equal length and equal bytes; the time does not depend on the bytes. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether the digest equals the stored one. False, in the same time, if none is stored (undefined). */
export function provesDigest(stored: Uint8Array | undefined, digest: Uint8Array): boolean {
  return sameDigest(stored ?? NO_DIGEST, digest) && stored !== undefined;
}
