// Steps 1 and 2 of money.md §7: does this key exist, is it the very key, was it revoked or paused, is its time over. Digests are compared in
// constant time over their full length, for an unknown key too, so that unknown and wrong look alike (hardening S3).
import { timingSafeEqual } from "node:crypto";
import { invalidApiKey } from "../../domain/key-refusals.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Credential } from "../../domain/credential.ts";
import { apiKeyExpired, apiKeyPaused, apiKeyRevoked } from "./policy-refusals.ts";
import type { KeyRow } from "../rows.ts";

const NO_DIGEST = new Uint8Array(32);

/** Equal length, equal bytes; the time depends on neither. */
export function sameDigest(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What ends a key, or stops it for a while. A pause stands beside a revocation, which is all that older programs know of it. */
export type KeyLife = Pick<KeyRow, "revokedAtMs" | "pausedAtMs" | "expiresAtMs">;

export type KeyState = "active" | "paused" | "expired" | "revoked";

/** Expiry is as final as revocation, whichever came first. */
export function keyState({ revokedAtMs, pausedAtMs, expiresAtMs }: KeyLife, nowMs: number): KeyState {
  const endedAtMs = pausedAtMs === null ? revokedAtMs : null;
  if (endedAtMs !== null && (expiresAtMs === null || endedAtMs < expiresAtMs)) return "revoked";
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return "expired";
  return pausedAtMs === null ? "active" : "paused";
}

/** The key, or the 401 that says nothing about the organization. */
export function decideKey<Key extends KeyLife & Pick<KeyRow, "digest">>(
  key: Key | undefined,
  credential: Credential,
  nowMs: number,
): { kind: "key"; key: Key } | { kind: "refused"; refusal: Refusal } {
  const matches = sameDigest(key?.digest ?? NO_DIGEST, credential.digest);
  if (key === undefined || !matches) return { kind: "refused", refusal: invalidApiKey() };
  const state = keyState(key, nowMs);
  return state === "active" ? { kind: "key", key } : { kind: "refused", refusal: REFUSED[state](key) };
}

const REFUSED = {
  revoked: apiKeyRevoked,
  paused: apiKeyPaused,
  expired: ({ expiresAtMs }: KeyLife): Refusal => apiKeyExpired(expiresAtMs ?? 0),
};
