import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adoptDataKey, readDataKey } from "./data-key.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-data-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const secret = join(folder, "secret");
const refused = (directory: string, file: string): string => {
  try {
    adoptDataKey(directory, file);
    return "";
  } catch (error) {
    return String(error);
  }
};

test("a shared key is stored where the gateway reads it, once, and closed to other users", () => {
  const directory = join(folder, "data");
  writeFileSync(secret, Buffer.alloc(32, 7), { mode: 0o444 });
  adoptDataKey(directory, secret);
  adoptDataKey(directory, secret);
  expect(readDataKey(directory, "existing")).toEqual(Buffer.alloc(32, 7));
  expect(statSync(join(directory, "data.key")).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test("another key is never overwritten, and a file that is not a key is refused with a reason", () => {
  const directory = join(folder, "used");
  const other = join(folder, "other");
  writeFileSync(other, Buffer.alloc(32, 5));
  adoptDataKey(directory, other);
  writeFileSync(other, Buffer.alloc(32, 9));
  expect(refused(directory, other)).toContain("holds another key than");
  expect(readFileSync(join(directory, "data.key"))).toEqual(Buffer.alloc(32, 5));
  writeFileSync(other, "too short");
  expect(refused(directory, other)).toContain("has 9 bytes, but a data key has 32");
  expect(refused(directory, join(folder, "none"))).toContain("cannot be read");
});

test("a new database creates a missing key, and overwrites no other file", () => {
  const directory = join(folder, "new");
  const path = join(directory, "data.key");
  mkdirSync(directory, { mode: 0o700 });
  expect(readDataKey(directory, "fresh")).toHaveLength(32);
  const printed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
  writeFileSync(path, printed);
  expect(() => readDataKey(directory, "fresh")).toThrow("has 45 bytes, but a data key has 32");
  expect(readFileSync(path, "utf8")).toBe(printed);
});
