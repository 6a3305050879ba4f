// Passwords for tests that are not about them: scrypt takes a tenth of a second of a whole processor for each person who
// comes, and again for each time that one signs in. Those of processes, and of tests that ask for it, are kept by scrypt.
import { createHash, randomBytes } from "node:crypto";
import type { Passwords } from "../../src/people/sign-in.ts";

const digest = (salt: string, password: string): string =>
  `${salt}:${createHash("sha256").update(`${salt}:${password}`).digest("hex")}`;

export const QUICK_PASSWORDS: Passwords = {
  hash: async (password) => digest(randomBytes(8).toString("hex"), password),
  verify: async ({ hash, password }) => digest(hash.split(":", 1)[0] ?? "", password) === hash,
};
