// The key that stored answers are encrypted with: 32 random bytes, mode 0600, outside the database (hardening.md S32).
// A database without its key does not open: it would silently keep answers that nobody can read again.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFile } from "./private-file.ts";
import { StoreFailure } from "./store-failure.ts";

const KEY_BYTES = 32;

/** `fresh`: a new database makes a new key; an existing one needs the key that it was made with. */
export function readDataKey(directory: string, database: "fresh" | "existing"): Uint8Array {
  const path = join(directory, "data.key");
  privateFile(path);
  const stored = readFileSync(path);
  if (stored.length === KEY_BYTES) return stored;
  if (database === "fresh") {
    const key = randomBytes(KEY_BYTES);
    writeFileSync(path, key, { flush: true });
    return key;
  }
  throw new StoreFailure(
    "data_key",
    `${path} does not hold the data key of the database beside it; restore it from the backup of the key`,
  );
}

/** What the database remembers of its key: enough to notice another one, useless to guess it. */
export const dataKeyCheck = (key: Uint8Array): Uint8Array =>
  createHash("sha256").update("tollgate data key check").update(key).digest().subarray(0, 16);
