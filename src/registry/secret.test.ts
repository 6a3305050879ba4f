import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { newId } from "../lib/id.ts";
import { digestOf, mintKey, mintManagementKey, parseKey, parseManagementKey } from "./secret.ts";

const ids = () => ({ organizationId: newId("org"), keyId: newId("key") });

test("a minted key is read back as the credential of its organization and key", () => {
  const row = ids();
  const { value, prefix, digest } = mintKey(row);
  expect(value).toMatch(/^gw_sk_[0-9A-Za-z]{73}$/);
  expect(parseKey(value)).toEqual({ ...row, digest });
  expect(digest).toEqual(new Uint8Array(new Bun.CryptoHasher("sha256").update(value).digest()));
  expect(value.startsWith(prefix)).toBe(true);
  expect(prefix).toBe(`gw_sk_${row.organizationId.slice(4)}${row.keyId.slice(4)}`);
});

test("a minted management key is read back by its id, and is no API key", () => {
  const id = newId("mk");
  const { value, digest } = mintManagementKey(id);
  expect(parseManagementKey(value)).toEqual({ id, digest });
  expect(parseKey(value)).toBeNull();
  expect(parseManagementKey(mintKey(ids()).value)).toBeNull();
});

test("two keys of the same row share nothing but the prefix", () => {
  const row = ids();
  const values = new Set(Array.from({ length: 200 }, () => mintKey(row).value.slice(30, 73)));
  expect(values.size).toBe(200);
});

test("one wrong character anywhere is noticed before anything is hashed", () => {
  const { value } = mintKey(ids());
  const hash = spyOn(Bun.SHA256, "hash");
  try {
    for (let at = 0; at < value.length; at += 1) {
      const wrong = value[at] === "x" ? "y" : "x";
      expect(parseKey(value.slice(0, at) + wrong + value.slice(at + 1))).toBeNull();
    }
    expect(hash).not.toHaveBeenCalled();
  } finally {
    hash.mockRestore();
  }
});

test("garbage, other prefixes, other case, and a 10 KB token are never hashed", () => {
  const { value } = mintKey(ids());
  const garbage = [
    null,
    "",
    "gw_sk_",
    "sk-abc",
    "' OR 1=1--",
    value.slice(0, -1),
    `${value}0`,
    `${value}\n`,
    value.toUpperCase(),
    value.toLowerCase(),
    value.replace("gw_sk_", "gw_mk_"),
    `gw_sk_${"a".repeat(10_000)}`,
    `gw_sk_${"é".repeat(73)}`,
  ];
  const hash = spyOn(Bun.SHA256, "hash");
  try {
    for (const text of garbage) {
      expect(parseKey(text)).toBeNull();
      expect(parseManagementKey(text)).toBeNull();
    }
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => parseKey(text) === null));
    expect(hash).not.toHaveBeenCalled();
  } finally {
    hash.mockRestore();
  }
});

test("the checksum is CRC32 in base62, so scanners can check a leaked key offline", () => {
  const { value } = mintKey(ids());
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let checksum = 0;
  for (let at = 73; at < 79; at += 1) checksum = checksum * 62 + digits.indexOf(value.charAt(at));
  expect(checksum).toBe(Bun.hash.crc32(value.slice(0, 73)));
});

test("a key's last four characters are kept: those of the checksum, none of the secret", () => {
  const { value, lastFour } = mintKey(ids());
  expect(value.slice(-4)).toBe(lastFour);
  expect(value.lastIndexOf(lastFour)).toBeGreaterThanOrEqual(73);
});

test("a row id of another kind or shape is a bug, not a key", () => {
  expect(() => mintKey({ organizationId: newId("key"), keyId: newId("key") })).toThrow();
  expect(() => mintKey({ organizationId: "org_short", keyId: newId("key") })).toThrow();
  expect(() => mintManagementKey("mk_")).toThrow();
  expect(digestOf("a")).toHaveLength(32);
});
