// Step 1: from the Authorization header to a credential, by shape and checksum alone (S2). Does not read the store; COMMIT 1
// decides whether the key exists.
import type { Credential } from "../domain/credential.ts";
import { invalidApiKey, missingApiKey } from "../domain/key-refusals.ts";
import { Refusal } from "../domain/refusals.ts";
import { bearerOf } from "../registry/bearer.ts";
import { parseKey, parseManagementKey } from "../registry/secret.ts";

/** The credential of an inference key; throws 401 `invalid_api_key`, or 403 `scope_not_permitted` for a management key. */
export function credentialOf(authorization: string | Credential | null): Credential {
  if (typeof authorization === "object" && authorization !== null) return authorization;
  if (authorization === null) throw missingApiKey();
  const bearer = bearerOf(authorization);
  const credential = parseKey(bearer);
  if (credential !== null) return credential;
  if (parseManagementKey(bearer) === null) throw invalidApiKey();
  throw new Refusal(
    "scope_not_permitted",
    "This is a management key. Call /v1 with an inference key, which begins with gw_sk_.",
  );
}
