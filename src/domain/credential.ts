// A bearer key after its shape and checksum were checked: who it says it is, and the proof that the ledger compares; and the
// headers in which clients send one.
import { Refusal } from "./refusals.ts";

/** Well-formed is not known: whether the key exists, and the secret is its own, is the ledger's word (`checkKey`). */
export interface Credential {
  organizationId: string;
  keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  digest: Uint8Array;
}

/** Whose call it is. */
export type CallerIds = Pick<Credential, "keyId" | "organizationId">;

/** Where clients put a key, in lower case: none of them is ever logged, and a surface takes its own from one of these. */
export const CREDENTIAL_HEADERS = ["authorization", "x-api-key"] as const;
type CredentialHeader = (typeof CREDENTIAL_HEADERS)[number];

/** `either`: in one of them, or the same in both. */
export type ShownIn = CredentialHeader | "either";

/** An empty header shows nothing: clients send one whose key is set nowhere. */
function saidIn(headers: Headers, name: CredentialHeader): string | null {
  const value = headers.get(name);
  return value === "" ? null : value;
}

/**
 * What a request shows, as an Authorization header would say it; null when it shows nothing. Management keys and the free
 * endpoints of `/v1` are shown in that very header. Throws `Refusal` 401 where two keys are shown.
 */
export function authorizationOf(headers: Headers, shownIn: ShownIn = "authorization"): string | null {
  const apiKey = shownIn === "authorization" ? null : saidIn(headers, "x-api-key");
  const asBearer = apiKey === null ? null : `Bearer ${apiKey}`;
  if (shownIn === "x-api-key") return asBearer;
  const authorization = saidIn(headers, "authorization");
  if (authorization === null || asBearer === null) return authorization ?? asBearer;
  if (authorization.replace(/^bearer +/i, "Bearer ") === asBearer) return authorization;
  throw new Refusal(
    "invalid_api_key",
    "Authorization and x-api-key carry different keys, and this gateway does not choose between them. Send only one of them.",
  );
}
