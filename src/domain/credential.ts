// A bearer key after its shape and checksum were checked: who it says it is, and the proof that the ledger compares; and the
// headers in which clients send one.

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
export type CredentialHeader = (typeof CREDENTIAL_HEADERS)[number];

/**
 * What a request shows, as an Authorization header would say it; null when it shows nothing. Management keys and the free
 * endpoints of `/v1` are shown in that very header.
 */
export function authorizationOf(headers: Headers, header: CredentialHeader = "authorization"): string | null {
  const shown = headers.get(header);
  return shown === null || header === "authorization" ? shown : `Bearer ${shown}`;
}
