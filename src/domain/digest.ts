// Digests are compared in constant time over their full length (hardening S3). Where nothing is stored there is still a
// comparison, so that an unknown key takes as long to refuse as a wrong one.
import { timingSafeEqual } from "node:crypto";

/** SHA-256, 32 bytes; no secret is known that has it. */
const NO_DIGEST = new Uint8Array(32);

/** Equal length, equal bytes; the time depends on no byte. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether a secret of this digest is the one that is stored; undefined: none is, which is false in the same time. */
export function provesDigest(stored: Uint8Array | undefined, digest: Uint8Array): boolean {
  return sameDigest(stored ?? NO_DIGEST, digest) && stored !== undefined;
}
