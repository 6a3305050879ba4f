// The key that encrypts stored answers: 32 random bytes, mode 0600, outside the database (hardening.md S32).
// A database without its key does not open: it would silently keep answers that nobody can read again.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DATA_KEY_FILE } from "../domain/data-files.ts";
import { messageOf } from "../domain/error-message.ts";
import { printTime } from "../domain/print.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { flush } from "../lib/flush.ts";
import { realPlace } from "../lib/real-place.ts";
import { fileRefusal, privateDirectory, privateFile } from "./private-file.ts";
import { StoreFailure } from "./store-failure.ts";

const KEY_BYTES = 32;

/** Where a link leads to it: a key may be kept on another disk, and one that replaces it belongs there, too. */
const keyPath = (directory: string): string => realPlace(join(directory, DATA_KEY_FILE));

/**
 * Reads the key. `fresh`: a new database makes a new key if there is none; an existing one needs the key that it
 * was made with. Anything that is not a key is never overwritten: it may be the only copy of a key in another form.
 */
export function readDataKey(directory: string, database: "fresh" | "existing"): Uint8Array {
  const path = keyPath(directory);
  privateFile(path);
  const refusal = dataKeyRefusal(directory, database);
  if (refusal !== null) throw refusal;
  const stored = readFileSync(path);
  if (stored.length === KEY_BYTES) return stored;
  const key = randomBytes(KEY_BYTES);
  writeFileSync(path, key, { flush: true });
  return key;
}

/** Returns why `readDataKey` would refuse what is there; null if it would not. Makes and changes nothing. */
export function dataKeyRefusal(directory: string, database: "fresh" | "existing"): StoreFailure | null {
  const path = keyPath(directory);
  const unusable = fileRefusal(path);
  if (unusable !== null) return unusable;
  const length = existsSync(path) ? statSync(path).size : 0;
  if (length === KEY_BYTES || (database === "fresh" && length === 0)) return null;
  return database === "fresh"
    ? new StoreFailure(
        "data_key",
        wrongLength(path, length),
        "restore the original key, or remove the file to get a new one",
      )
    : new StoreFailure(
        "data_key",
        `${path} does not hold the data key of the database beside it`,
        "restore it from the backup of the key",
      );
}

const wrongLength = (path: string, length: number): string =>
  `${path} has ${length} bytes, but a data key has ${KEY_BYTES}`;

/**
 * Copies the key shared by the gateways of one database into this data directory, from a file such as
 * a mounted secret. Does nothing if it is already there. `replace`: replaces another key, which is
 * kept beside it. Throws `StoreFailure` if the file holds no key, or the directory another one.
 */
export function adoptDataKey(directory: string, file: string, { replace = false } = {}): void {
  const key = keyIn(file);
  privateDirectory(directory);
  const path = keyPath(directory);
  const stored = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (stored.equals(key)) return privateFile(path);
  if (stored.length > 0 && !replace)
    throw new StoreFailure(
      "data_key",
      `${path} holds another key than ${file}`,
      "if the database's key was changed, run this with --replace, which keeps the old one beside it; if this directory was never used with a database, remove it; otherwise find out which of the two is the database's key",
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
    throw new StoreFailure(
      "data_key",
      `the data key ${file} cannot be read (${messageOf(error)})`,
      "name a file that this user may read",
    );
  }
  if (key.length === KEY_BYTES) return key;
  throw new StoreFailure(
    "data_key",
    wrongLength(file, key.length),
    `copy data.key from another gateway, or create one: head -c ${KEY_BYTES} /dev/urandom > data.key`,
  );
}

/** What the database stores about its key: enough to notice another one, useless for guessing it. */
export const dataKeyCheck = (key: Uint8Array): Uint8Array =>
  createHash("sha256").update("tollgate data key check").update(key).digest().subarray(0, 16);

const opens = (key: Uint8Array, check: Uint8Array): boolean => Buffer.from(dataKeyCheck(key)).equals(check);

// ── A new key (docs/decisions/0083-the-data-key-changes-in-one-commit.md) ───────────────────────────────────────

const nextPath = (directory: string): string => `${keyPath(directory)}.next`;
const formerPrefix = (directory: string): string => `${keyPath(directory)}.before-`;

/** True if a new key lies beside the present one: it was generated, and the store may or may not have it. */
export const hasNextDataKey = (directory: string): boolean => existsSync(nextPath(directory));

/**
 * Generates the store's next key, on disk on return, replacing one of an interrupted run, which somebody may
 * have obtained. Call only if the store is known to have the present key, and no other run may be committing.
 * Whatever `takeNextDataKey` needs later is done here first: the present key is kept, and put in its own place. Throws
 * `StoreFailure` if that fails; the present key is then where it was.
 */
export function drawNextDataKey(directory: string): Uint8Array {
  const path = nextPath(directory);
  const key = randomBytes(KEY_BYTES);
  try {
    keepFormer(directory);
    rehearse(directory);
    privateFile(path);
    writeFileSync(path, key, { flush: true });
    flush(dirname(path));
    return key;
  } catch (error) {
    throw error instanceof StoreFailure ? error : unwritable(path, error);
  }
}

/** A key that is mounted as a file, or may not be replaced, is found out before anything depends on that. */
function rehearse(directory: string): void {
  const [path, arriving] = [keyPath(directory), `${keyPath(directory)}.copy`];
  const key = readFileSync(path);
  privateFile(arriving);
  try {
    writeFileSync(arriving, key, { flush: true });
    renameSync(arriving, path);
  } catch (error) {
    rmSync(arriving, { force: true });
    throw error;
  }
  flush(dirname(path));
}

const unwritable = (path: string, error: unknown): StoreFailure =>
  new StoreFailure(
    "permissions",
    `the new data key cannot be put into ${dirname(path)} (${messageOf(error)})`,
    "make room there, or let this user write to it and replace data.key, which must be no mount of its own; then run this again: nothing was changed",
  );

/** True if a start in this directory finds the key of a store with this check. */
export const opensWith = (directory: string, check: Uint8Array): boolean =>
  [keyPath(directory), nextPath(directory)].some(
    (path) => existsSync(path) && opens(readFileSync(path), check),
  );

/**
 * Replaces the present key with the next one if the store already has the next one, according to its
 * check. Returns null if there is no such key.
 */
export function takeNextDataKey(directory: string, check: Uint8Array): Uint8Array | null {
  const path = nextPath(directory);
  if (!existsSync(path)) return null;
  const key = readFileSync(path);
  if (!opens(key, check)) return null;
  putInPlace(directory, path);
  return key;
}

/** At every moment one of the two keys is in place; the old one is kept. */
function putInPlace(directory: string, path: string): void {
  keepFormer(directory);
  crashPoint("rotate_kept");
  renameSync(path, keyPath(directory));
  flush(dirname(path));
}

/** Keeps the present key under another name, beside its replacement. */
function keepFormer(directory: string): void {
  const path = keyPath(directory);
  if (!existsSync(path)) return;
  const key = readFileSync(path);
  if (key.length === 0 || formerDataKeys(directory).some((former) => readFileSync(former).equals(key)))
    return;
  const at = `${printTime(Date.now()).slice(0, 23).replaceAll(/[:.]/g, "-")}Z`;
  const kept = formerPrefix(directory) + at;
  try {
    writeFileSync(kept, key, { flag: "wx", mode: 0o600, flush: true });
  } catch (error) {
    if (existsSync(kept) && statSync(kept).size < KEY_BYTES) rmSync(kept, { force: true });
    throw error;
  }
  flush(dirname(path));
}

/** Returns the files of this directory's former keys, newest first. */
export function formerDataKeys(directory: string): string[] {
  const prefix = formerPrefix(directory);
  const folder = dirname(prefix);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(prefix)))
    .toSorted()
    .reverse()
    .map((name) => join(folder, name));
}

/** Returns the file of the former key that matches this check; null if none does. */
export const formerDataKeyOf = (directory: string, check: Uint8Array): string | null =>
  formerDataKeys(directory).find((path) => opens(readFileSync(path), check)) ?? null;
