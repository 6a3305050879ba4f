// A bearer key after its shape and checksum were checked: who it says it is, and the proof that the ledger compares.

export interface Credential {
  organizationId: string;
  keyId: string;
  /** SHA-256 of the whole key, 32 bytes. */
  digest: Uint8Array;
}
