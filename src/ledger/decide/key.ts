// Steps 1 and 2 of money.md §7: does this key exist, is it the very key, was it revoked. Digests are compared in
// constant time over their full length, for an unknown key too, so that unknown and wrong look alike (hardening S3).
import { timingSafeEqual } from "node:crypto";
import type { Refusal } from "../../domain/refusals.ts";
import type { Credential } from "../../domain/credential.ts";
import { apiKeyRevoked, invalidApiKey } from "./policy-refusals.ts";
import type { KeyRow } from "../rows.ts";

const NO_DIGEST = new Uint8Array(32);

/** Equal length, equal bytes; the time depends on neither. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The key, or the 401 that says nothing about the organization. */
export function decideKey<Key extends Pick<KeyRow, "digest" | "revokedAtMs">>(
  key: Key | undefined,
  credential: Credential,
): { kind: "key"; key: Key } | { kind: "refused"; refusal: Refusal } {
  const matches = sameDigest(key?.digest ?? NO_DIGEST, credential.digest);
  if (key === undefined || !matches) return { kind: "refused", refusal: invalidApiKey() };
  if (key.revokedAtMs !== null) return { kind: "refused", refusal: apiKeyRevoked() };
  return { kind: "key", key };
}
