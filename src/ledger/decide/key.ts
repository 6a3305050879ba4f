// Steps 1 and 2 of money.md §7: does the key exist, does its full digest match, was it revoked or paused, has it
// expired. An unknown key and a wrong one cannot be distinguished by response or by time taken (hardening S3).
import { provesDigest } from "../../domain/digest.ts";
import { invalidApiKey } from "../../domain/key-refusals.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { Credential } from "../../domain/credential.ts";
import { apiKeyExpired, apiKeyPaused, apiKeyRevoked } from "./policy-refusals.ts";
import type { KeyRow } from "../rows.ts";

/** What ends or pauses a key. A pause is stored along with a revocation, which is all that older programs understand of it. */
export type KeyLife = Pick<KeyRow, "revokedAtMs" | "pausedAtMs" | "expiresAtMs">;

export type KeyState = "active" | "paused" | "expired" | "revoked";

/** Expiry is as final as revocation, whichever came first. */
export function keyState({ revokedAtMs, pausedAtMs, expiresAtMs }: KeyLife, nowMs: number): KeyState {
  const endedAtMs = pausedAtMs === null ? revokedAtMs : null;
  if (endedAtMs !== null && (expiresAtMs === null || endedAtMs < expiresAtMs)) return "revoked";
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return "expired";
  return pausedAtMs === null ? "active" : "paused";
}

/** Returns the key, or the 401 that reveals nothing about the organization. */
export function decideKey<Key extends KeyLife & Pick<KeyRow, "digest">>(
  key: Key | undefined,
  credential: Credential,
  nowMs: number,
): { kind: "key"; key: Key } | { kind: "refused"; refusal: Refusal } {
  const matches = provesDigest(key?.digest, credential.digest);
  if (key === undefined || !matches) return { kind: "refused", refusal: invalidApiKey() };
  const state = keyState(key, nowMs);
  return state === "active" ? { kind: "key", key } : { kind: "refused", refusal: REFUSED[state](key) };
}

const REFUSED = {
  revoked: apiKeyRevoked,
  paused: apiKeyPaused,
  expired: ({ expiresAtMs }: KeyLife): Refusal => apiKeyExpired(expiresAtMs ?? 0),
};
