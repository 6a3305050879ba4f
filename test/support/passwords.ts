// Fast password hashing for tests that are not about passwords: scrypt takes a tenth of a second of CPU for each new
// person and for each sign-in. Gateway processes, and tests that ask for it, use scrypt.
import { createHash, randomBytes } from "node:crypto";
import type { Passwords } from "../../src/people/sign-in.ts";

const digest = (salt: string, password: string): string =>
  `${salt}:${createHash("sha256").update(`${salt}:${password}`).digest("hex")}`;

export const QUICK_PASSWORDS: Passwords = {
  hash: async (password) => digest(randomBytes(8).toString("hex"), password),
  verify: async ({ hash, password }) => digest(hash.split(":", 1)[0] ?? "", password) === hash,
};
