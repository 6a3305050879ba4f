// The key that stored answers are encrypted with: 32 random bytes, mode 0600, outside the database (hardening.md S32).
// A database without its key does not open: it would silently keep answers that nobody can read again.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_KEY_FILE } from "../domain/data-files.ts";
import { messageOf } from "../domain/error-message.ts";
import { privateDirectory, privateFile } from "./private-file.ts";
import { StoreFailure } from "./store-failure.ts";

const KEY_BYTES = 32;

/**
 * `fresh`: a new database makes a new key where there is none; an existing one needs the key that it was made with. What is no
 * key is never written over: it may be the only copy of one, in another form.
 */
export function readDataKey(directory: string, database: "fresh" | "existing"): Uint8Array {
  const path = join(directory, DATA_KEY_FILE);
  privateFile(path);
  const stored = readFileSync(path);
  if (stored.length === KEY_BYTES) return stored;
  if (database === "fresh" && stored.length === 0) {
    const key = randomBytes(KEY_BYTES);
    writeFileSync(path, key, { flush: true });
    return key;
  }
  if (database === "fresh")
    throw new StoreFailure(
      "data_key",
      `${path} has ${stored.length} bytes, and a data key ${KEY_BYTES}: put the key there as it was, or remove the file for a new one`,
    );
  throw new StoreFailure(
    "data_key",
    `${path} does not hold the data key of the database beside it; restore it from the backup of the key`,
  );
}

/**
 * Puts the key that the gateways of one database share into this data directory, from a file such as a mounted secret. Does
 * nothing where it is there. Throws `StoreFailure` when the file holds no key, or the directory another one.
 */
export function adoptDataKey(directory: string, file: string): void {
  const key = keyIn(file);
  privateDirectory(directory);
  const path = join(directory, DATA_KEY_FILE);
  const stored = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (stored.length > 0 && !stored.equals(key))
    throw new StoreFailure(
      "data_key",
      `${path} holds another key than ${file}; if this directory was never used with a database, remove it, else find out which of the two is that of the database`,
    );
  privateFile(path);
  if (stored.length === 0) writeFileSync(path, key, { flush: true });
}

function keyIn(file: string): Buffer {
  let key: Buffer;
  try {
    key = readFileSync(file);
  } catch (error) {
    throw new StoreFailure("data_key", `the data key ${file} cannot be read (${messageOf(error)})`);
  }
  if (key.length === KEY_BYTES) return key;
  throw new StoreFailure(
    "data_key",
    `${file} has ${key.length} bytes, and a data key ${KEY_BYTES}: copy data.key from another gateway, or make one: head -c ${KEY_BYTES} /dev/urandom > data.key`,
  );
}

/** What the database remembers of its key: enough to notice another one, useless to guess it. */
export const dataKeyCheck = (key: Uint8Array): Uint8Array =>
  createHash("sha256").update("tollgate data key check").update(key).digest().subarray(0, 16);
