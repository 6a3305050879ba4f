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

/**
 * Where clients put a key: none of them is ever logged. `read`: whether a door of today takes one from it, which browsers of
 * other origins may then send, too. A surface whose clients use another header says so here.
 */
const CREDENTIAL_HEADERS: Record<string, { read: boolean }> = {
  authorization: { read: true },
  "x-api-key": { read: false },
};

/** All of them, in lower case. */
export const CREDENTIAL_HEADER_NAMES: readonly string[] = Object.keys(CREDENTIAL_HEADERS);

/** Those that a door of today reads. */
export const READ_CREDENTIAL_HEADERS: readonly string[] = CREDENTIAL_HEADER_NAMES.filter(
  (name) => CREDENTIAL_HEADERS[name]?.read === true,
);

/** What a request shows at the doors of `/v1` and of management keys; null when it shows nothing. */
export const authorizationOf = (headers: Headers): string | null => headers.get("authorization");
