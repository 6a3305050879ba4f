// Identifiers: a prefix that names the kind, and a tail. Request ids contain a UUIDv7, so that rows of the
// same time are stored together.
import { randomBytes } from "node:crypto";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` random characters of base62, unbiased. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += BASE62[byte % 62];
  }
  return text;
}

/**
 * A time-ordered id: `req_` and the 32 hex digits of a UUIDv7. `nowMs` must come from the clock that all
 * gateways of a store share.
 */
export const newRequestId = (nowMs: number): string =>
  `req_${Bun.randomUUIDv7("hex", Math.floor(nowMs)).replaceAll("-", "")}`;

/**
 * A request id unchanged; or the id of a response, which has the same digits after its surface's own prefix.
 */
export const requestIdIn = (text: string): string =>
  text.replace(/^[a-z]{1,16}[-_]([0-9a-f]{32})$/, "req_$1");

/** A random id for rows that operators name: `org_…`, `key_…`, `ent_…`. */
export const newId = (prefix: "org" | "key" | "ent" | "mk" | "txn" | "aud" | "dev"): string =>
  `${prefix}_${randomBase62(12)}`;
