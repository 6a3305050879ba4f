// A bearer key whose format and checksum were checked: the owner that it claims, and the digest that the ledger
// compares. Also the headers in which clients send one.
import { Refusal } from "./refusals.ts";

/** Well-formed, but not yet verified: the ledger (`checkKey`) decides whether the key exists and its secret matches. */
export interface Credential {
  organizationId: string;
  keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  digest: Uint8Array;
}

/** The caller's ids. */
export type CallerIds = Pick<Credential, "keyId" | "organizationId">;

/** The headers that may hold a key, in lower case. None of them is ever logged; a surface accepts its key in one of them. */
export const CREDENTIAL_HEADERS = ["authorization", "x-api-key"] as const;
type CredentialHeader = (typeof CREDENTIAL_HEADERS)[number];

/** `either`: in one of them, or the same key in both. */
export type ShownIn = CredentialHeader | "either";

/** An empty header counts as none: clients send one if no key is configured. */
function saidIn(headers: Headers, name: CredentialHeader): string | null {
  const value = headers.get(name);
  return value === "" ? null : value;
}

/**
 * Returns the key of a request as an Authorization header would carry it; null if there is none. Management keys and the free
 * endpoints of `/v1` use that header only. Throws `Refusal` 401 for two different keys.
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
