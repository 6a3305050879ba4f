// API keys and management keys: their format, their creation, and parsing a bearer token into a credential.
// Shape, character set and checksum are checked before anything is hashed or read from the store (hardening
// S1, S2).
import type { Credential } from "../domain/credential.ts";
import { randomBase62 } from "../lib/id.ts";

// gw_sk_ + organization (12) + key (12) + secret (43 characters of base62: 256 bits) + CRC32 (6 characters of base62)
// gw_mk_ + key (12) + secret (43) + CRC32 (6)
const API_KEY = /^gw_sk_[0-9A-Za-z]{73}$/;
const MANAGEMENT_KEY = /^gw_mk_[0-9A-Za-z]{61}$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TAG_LENGTH = 6;
const ID_LENGTH = 12;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
/** Shorter than the checksum: shows nothing of the secret itself. */
const SHOWN_LENGTH = 4;

/** A new key. `value` is shown once and never stored; the other fields are. */
export interface MintedKey {
  value: string;
  /** The part before the secret. */
  prefix: string;
  /**
   * Its last characters, part of the checksum: people recognize keys by them
   * (docs/decisions/0059-settings-of-keys.md).
   */
  lastFour: string;
  /** SHA-256 of the whole value, 32 bytes. */
  digest: Uint8Array;
}

/** A management key whose shape and checksum have been checked. */
export interface ManagementCredential {
  id: string;
  digest: Uint8Array;
}

/** Creates the secret of an API key. Takes the ids `org_…` and `key_…` of its row. */
export function mintKey(ids: { organizationId: string; keyId: string }): MintedKey {
  return mint(`gw_sk_${tailOf(ids.organizationId, "org_")}${tailOf(ids.keyId, "key_")}`);
}

/** Creates the secret of a management key. Takes the id `mk_…` of its row. */
export function mintManagementKey(id: string): MintedKey {
  return mint(`gw_mk_${tailOf(id, "mk_")}`);
}

/** Parses an API key; null for anything that `mintKey` cannot have created. */
export function parseKey(bearer: string | null): Credential | null {
  if (bearer === null || !API_KEY.test(bearer) || !checksumHolds(bearer)) return null;
  const keyAt = TAG_LENGTH + ID_LENGTH;
  return {
    organizationId: `org_${bearer.slice(TAG_LENGTH, keyAt)}`,
    keyId: `key_${bearer.slice(keyAt, keyAt + ID_LENGTH)}`,
    digest: digestOf(bearer),
  };
}

/** Parses a management key; null for anything that `mintManagementKey` cannot have created. */
export function parseManagementKey(bearer: string | null): ManagementCredential | null {
  if (bearer === null || !MANAGEMENT_KEY.test(bearer) || !checksumHolds(bearer)) return null;
  return { id: `mk_${bearer.slice(TAG_LENGTH, TAG_LENGTH + ID_LENGTH)}`, digest: digestOf(bearer) };
}

/** SHA-256 of the whole value: the only form in which a key is stored. */
export function digestOf(value: string): Uint8Array {
  const digest = new Uint8Array(32);
  Bun.SHA256.hash(value, digest);
  return digest;
}

function mint(prefix: string): MintedKey {
  const body = prefix + randomBase62(SECRET_LENGTH);
  const value = body + checksumOf(body);
  return { value, prefix, lastFour: value.slice(-SHOWN_LENGTH), digest: digestOf(value) };
}

function tailOf(id: string, kind: string): string {
  const tail = id.slice(kind.length);
  if (!id.startsWith(kind) || !/^[0-9A-Za-z]{12}$/.test(tail))
    throw new Error(`not an id of kind ${kind}: ${id}`);
  return tail;
}

function checksumHolds(value: string): boolean {
  let rest = Bun.hash.crc32(value.slice(0, -CHECKSUM_LENGTH));
  for (let at = value.length - 1; at >= value.length - CHECKSUM_LENGTH; at -= 1) {
    if (value.charAt(at) !== ALPHABET.charAt(rest % 62)) return false;
    rest = Math.floor(rest / 62);
  }
  return true;
}

function checksumOf(body: string): string {
  let rest = Bun.hash.crc32(body);
  let text = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
