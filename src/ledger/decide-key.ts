// Steps 1 and 2 of money.md §7: does this key exist, is it the very key, was it revoked. Digests are compared in
// constant time over their full length, for an unknown key too, so that unknown and wrong look alike (hardening S3).
import { timingSafeEqual } from "node:crypto";
import type { Refusal } from "../contract/refusals.ts";
import type { Credential } from "../contract/credential.ts";
import type { ManagementKeyRecord } from "./ledger.ts";
import { apiKeyRevoked, invalidApiKey } from "./policy-refusals.ts";
import type { KeyRow } from "./rows.ts";

const NO_DIGEST = new Uint8Array(32);

/** Equal length, equal bytes; the time depends on neither. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The key, or the 401 that says nothing about the organization. */
export function decideKey(
  key: KeyRow | undefined,
  credential: Credential,
): { kind: "key"; key: KeyRow } | { kind: "refused"; refusal: Refusal } {
  const matches = sameDigest(key?.digest ?? NO_DIGEST, credential.digest);
  if (key === undefined || !matches) return { kind: "refused", refusal: invalidApiKey() };
  if (key.revokedAtMs !== null) return { kind: "refused", refusal: apiKeyRevoked() };
  return { kind: "key", key };
}

/** Of a management key: neither revoked nor past its end. */
export const isOpen = (
  { expiresAtMs, revokedAtMs }: Pick<ManagementKeyRecord, "expiresAtMs" | "revokedAtMs">,
  nowMs: number,
): boolean => revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs);
