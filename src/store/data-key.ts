// The key that stored answers are encrypted with: 32 random bytes, mode 0600, outside the database (hardening.md S32).
// A database without its key does not open: it would silently keep answers that nobody can read again.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_KEY_FILE } from "../domain/data-files.ts";
import { messageOf } from "../domain/error-message.ts";
import { printTime } from "../domain/print.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { flush } from "../lib/flush.ts";
import { fileRefusal, privateDirectory, privateFile } from "./private-file.ts";
import { StoreFailure } from "./store-failure.ts";

const KEY_BYTES = 32;

/**
 * `fresh`: a new database makes a new key where there is none; an existing one needs the key that it was made with. What is no
 * key is never written over: it may be the only copy of one, in another form.
 */
export function readDataKey(directory: string, database: "fresh" | "existing"): Uint8Array {
  const path = join(directory, DATA_KEY_FILE);
  privateFile(path);
  const refusal = dataKeyRefusal(directory, database);
  if (refusal !== null) throw refusal;
  const stored = readFileSync(path);
  if (stored.length === KEY_BYTES) return stored;
  const key = randomBytes(KEY_BYTES);
  writeFileSync(path, key, { flush: true });
  return key;
}

/** Why `readDataKey` would refuse what is there; null where it would not. Makes and changes nothing. */
export function dataKeyRefusal(directory: string, database: "fresh" | "existing"): StoreFailure | null {
  const path = join(directory, DATA_KEY_FILE);
  const unusable = fileRefusal(path);
  if (unusable !== null) return unusable;
  const length = existsSync(path) ? statSync(path).size : 0;
  if (length === KEY_BYTES || (database === "fresh" && length === 0)) return null;
  return new StoreFailure(
    "data_key",
    database === "fresh"
      ? `${path} has ${length} bytes, and a data key ${KEY_BYTES}; put the key there as it was, or remove the file for a new one`
      : `${path} does not hold the data key of the database beside it; restore it from the backup of the key`,
  );
}

/**
 * Puts the key that the gateways of one database share into this data directory, from a file such as a mounted secret. Does
 * nothing where it is there. `replace`: in the place of another one, which is kept beside it. Throws `StoreFailure` when the file
 * holds no key, or the directory another one.
 */
export function adoptDataKey(directory: string, file: string, { replace = false } = {}): void {
  const key = keyIn(file);
  privateDirectory(directory);
  const path = join(directory, DATA_KEY_FILE);
  const stored = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (stored.equals(key)) return privateFile(path);
  if (stored.length > 0 && !replace)
    throw new StoreFailure(
      "data_key",
      `${path} holds another key than ${file}; if the key of the database was changed, run this with --replace, which keeps the old one beside it; if this directory was never used with a database, remove it, else find out which of the two is that of the database`,
    );
  const arriving = `${path}.copy`;
  privateFile(arriving);
  writeFileSync(arriving, key, { flush: true });
  putInPlace(directory, arriving);
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

const opens = (key: Uint8Array, check: Uint8Array): boolean => Buffer.from(dataKeyCheck(key)).equals(check);

// ── A new key (docs/decisions/0083-the-data-key-changes-in-one-commit.md) ───────────────────────────────────────

const nextPath = (directory: string): string => join(directory, `${DATA_KEY_FILE}.next`);
const FORMER = `${DATA_KEY_FILE}.before-`;

/** Whether a new key lies beside the present one: it was drawn, and the store has it or does not. */
export const hasNextDataKey = (directory: string): boolean => existsSync(nextPath(directory));

/**
 * The key that the store gets next, on the disk when this returns, in the place of one that an ended run drew: whoever got hold
 * of that must not have this one. Only where the store is known to have the present key, and no other run may be committing.
 */
export function drawNextDataKey(directory: string): Uint8Array {
  const path = nextPath(directory);
  privateFile(path);
  const key = randomBytes(KEY_BYTES);
  writeFileSync(path, key, { flush: true });
  flush(directory);
  return key;
}

/** Whether a start in this directory finds the key of a store that keeps this check. */
export const opensWith = (directory: string, check: Uint8Array): boolean =>
  [join(directory, DATA_KEY_FILE), nextPath(directory)].some(
    (path) => existsSync(path) && opens(readFileSync(path), check),
  );

/**
 * Puts the next key into the place of the present one where the store has it already, by the check that it keeps. Null where
 * there is no such key.
 */
export function takeNextDataKey(directory: string, check: Uint8Array): Uint8Array | null {
  const path = nextPath(directory);
  if (!existsSync(path)) return null;
  const key = readFileSync(path);
  if (!opens(key, check)) return null;
  putInPlace(directory, path);
  return key;
}

/** At every moment there is the one or the other; what was there is kept. */
function putInPlace(directory: string, path: string): void {
  keepFormer(directory);
  crashPoint("rotate_kept");
  renameSync(path, join(directory, DATA_KEY_FILE));
  flush(directory);
}

/** Under a name of its own, beside what takes its place. */
function keepFormer(directory: string): void {
  const path = join(directory, DATA_KEY_FILE);
  if (!existsSync(path)) return;
  const key = readFileSync(path);
  if (key.length === 0 || formerDataKeys(directory).some((former) => readFileSync(former).equals(key)))
    return;
  const at = `${printTime(Date.now()).slice(0, 23).replaceAll(/[:.]/g, "-")}Z`;
  writeFileSync(join(directory, FORMER + at), key, { flag: "wx", mode: 0o600, flush: true });
  flush(directory);
}

/** Files of the keys that this directory had before, the newest first. */
export const formerDataKeys = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.startsWith(FORMER))
    .toSorted()
    .reverse()
    .map((name) => join(directory, name));

/** The file of the key that a store with this check had before it was changed; null where none of them is. */
export const formerDataKeyOf = (directory: string, check: Uint8Array): string | null =>
  formerDataKeys(directory).find((path) => opens(readFileSync(path), check)) ?? null;
