// The Idempotency-Key header (specification 4, money.md §8): optional, opaque, 8–200 printable bytes. Without it a key is
// generated, which gives no replay protection. The fingerprint says whether two requests are the same.
import { canonicalJson } from "../domain/canonical-json.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Format } from "./formats/format.ts";

const KEY = /^[\x21-\x7e]{8,200}$/;

export interface IdempotencyKey {
  value: string;
  callerSupplied: boolean;
}

/**
 * Reads the header, or generates a key if there is none. Bun joins duplicate headers with ", ", and a space is not in the key's
 * alphabet, so a header sent twice is refused by the same pattern.
 */
export function readIdempotencyKey(header: string | null, requestId: string): IdempotencyKey {
  if (header === null) return generatedKey(requestId);
  if (KEY.test(header)) return { value: header, callerSupplied: true };
  throw new Refusal(
    "invalid_idempotency_key",
    "Idempotency-Key must be sent once and have 8 to 200 printable ASCII characters without spaces. " +
      "Send a fresh random value, such as a UUID, for each new request.",
    { param: "Idempotency-Key" },
  );
}

/** The key of a request whose caller sent none: scoped to that request (specification 4, rule 3). */
export const generatedKey = (requestId: string): IdempotencyKey => ({
  value: `gwk_${requestId.slice(4)}`,
  callerSupplied: false,
});

/**
 * SHA-256 over method, path, API version and the canonical JSON of the parsed body; 32 bytes. `headers`: what goes upstream in
 * addition to the body, if anything.
 */
export function fingerprintOf(
  { path }: Pick<Format, "path">,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const hasher = new Bun.CryptoHasher("sha256").update(`POST ${path} v1\n`).update(canonicalJson(body));
  if (Object.keys(headers).length > 0) hasher.update(`\n${canonicalJson(headers)}`);
  return hasher.digest();
}
