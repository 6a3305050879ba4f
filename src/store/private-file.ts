// Files that only the owner may read: the data directory is 0700, everything in it 0600 (hardening.md
// S39). Modes that are too open are tightened; if that fails, the start is refused.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { messageOf } from "../domain/error-message.ts";
import { fileBytesMax } from "../lib/shortage.ts";
import { StoreFailure } from "./store-failure.ts";

/** Creates the directory if it is missing, and makes sure that we may write there and nobody else may enter it. */
export function privateDirectory(path: string): void {
  const refusal = directoryRefusal(path);
  if (refusal !== null) throw refusal;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(path, error);
  }
  tighten(path, 0o700);
}

/** Returns why a start would refuse this data directory; null if it would not. Makes and changes nothing. */
export function directoryRefusal(path: string): StoreFailure | null {
  const { R_OK, W_OK, X_OK } = constants;
  const there = nearestExisting(path);
  try {
    if (!statSync(there).isDirectory())
      throw new Error(`${there === path ? "it" : there} is not a directory`);
    accessSync(there, there === path ? R_OK | W_OK | X_OK : W_OK | X_OK);
  } catch (error) {
    return unwritable(path, error);
  }
  return there === path ? opennessRefusal(path, 0o700) : null;
}

/** Returns the path itself, or its nearest existing parent. */
export function nearestExisting(path: string): string {
  let there = resolve(path);
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  return there;
}

const unwritable = (path: string, error: unknown): StoreFailure =>
  new StoreFailure(
    "permissions",
    `the data directory ${path} cannot be written (${messageOf(error)})`,
    "make it writable for this user, or name another one with --data-dir or TOLLGATE_DATA_DIR",
  );

/** Creates an empty file if it is missing, before anything is written to it, and closes it to others. */
export function privateFile(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw unusable(path, error);
  }
  const refusal = fileRefusal(path);
  if (refusal !== null) throw refusal;
  tighten(path, 0o600);
}

/** Returns why a start would refuse this file of the data directory; null if it would not, or if the file is missing. */
export function fileRefusal(path: string): StoreFailure | null {
  if (!existsSync(path)) return null;
  try {
    if (statSync(path).isDirectory()) throw new Error("it is a directory");
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    return unusable(path, error);
  }
  return opennessRefusal(path, 0o600);
}

const unusable = (path: string, error: unknown): StoreFailure =>
  new StoreFailure(
    "permissions",
    `${path} cannot be read and written (${messageOf(error)})`,
    `every file in the data directory must belong to the user who runs the gateway, including those that another user left there: chown -R USER ${dirname(path)}`,
  );

/** Opens a database file. SQLite's own message for one that it cannot open names neither the file nor a way out. */
export function openedFrom<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    const limit = fileBytesMax();
    if (limit !== null && cannotWrite(error)) throw fileTooLong(path, limit);
    throw new StoreFailure(
      "database",
      `${path} cannot be opened (${messageOf(error)})`,
      `it and ${basename(path)}-wal beside it must belong to this user and be unchanged since a gateway wrote them; if they are damaged, stop the gateway and restore the last backup: ./tollgate db restore FILE`,
    );
  }
}

const cannotWrite = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(SQLITE_(IOERR|FULL)|EFBIG)/.test(String(error.code));

/** The failure to write a file beyond the process's own limit, in bytes, which looks like a broken disk. */
export const fileTooLong = (path: string, limit: number): StoreFailure =>
  new StoreFailure(
    "disk_full",
    `${path} cannot be written: this process may write no file above ${limit} bytes`,
    "raise that limit (ulimit -f; LimitFSIZE of a service), then run this again: nothing was changed",
  );

/** Other users' rights to a path, as bits of its mode. */
const OTHERS = 0o077;

/** The refusal for a path that is open to others and belongs to another user: only its owner may close it. */
function opennessRefusal(path: string, mode: number): StoreFailure | null {
  const user = process.getuid?.();
  const { mode: found, uid } = statSync(path);
  if ((found & OTHERS) === 0 || user === undefined || user === 0 || user === uid) return null;
  return stillOpen(path, found & 0o777, mode);
}

function stillOpen(path: string, found: number, mode: number): StoreFailure {
  const wanted = `chmod ${mode.toString(8)} ${path}`;
  return new StoreFailure(
    "permissions",
    `${path} is accessible to other users (mode ${found.toString(8)}), and that could not be changed`,
    `run: ${wanted}`,
  );
}

function tighten(path: string, mode: number): void {
  if ((statSync(path).mode & OTHERS) === 0) return;
  try {
    chmodSync(path, mode);
  } catch {
    // Not the owner, or a file system without modes: the check below decides.
  }
  const found = statSync(path).mode & 0o777;
  if ((found & OTHERS) !== 0) throw stillOpen(path, found, mode);
}
