// One process per data directory (money.md §2), or per role in it. The kernel holds the lock (an exclusive SQLite
// lock on a separate file), so it is released however the process ends; the pid file beside it only names the owner.
import { Database } from "bun:sqlite";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../lib/living-process.ts";
import { fileRefusal, privateFile } from "./private-file.ts";
import { diskFull } from "./reserve-file.ts";
import { isDiskFull } from "./sqlite-error.ts";
import { StoreFailure } from "./store-failure.ts";

/** Held until it is released, or until the process ends. */
export interface DirectoryLock {
  release(): void;
}

type Role = "tollgate" | "operator";

const lockFile = (directory: string, role: Role): string => join(directory, `${role}.lock`);
const pidFile = (directory: string, role: Role): string => join(directory, `${role}.pid`);

/** Returns the process that owns the directory, according to its pid file; null if there is none. */
export function directoryOwner(directory: string): number | null {
  try {
    const pid = Number(readFileSync(pidFile(directory, "tollgate"), "utf8").trim());
    return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? pid : null;
  } catch {
    return null; // no such file, or this user may not read it
  }
}

/**
 * True if certainly no process owns the directory, false if one does or this user may not look. Unlike `directoryOwner` it
 * asks the kernel, because the pid of a process in another container names nobody here. Makes and changes nothing.
 */
export function isDirectoryFree(directory: string): boolean {
  const lockPath = lockFile(directory, "tollgate");
  try {
    statSync(lockPath);
    const lock = new Database(lockPath, { readonly: true });
    try {
      lock.run("PRAGMA busy_timeout = 0");
      lock.query("SELECT 1 FROM sqlite_master").values();
      return true;
    } finally {
      lock.close();
    }
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

/** Returns why this user could not even try to take the lock; null if the user could. Makes and changes nothing. */
export const lockFilesRefusal = (directory: string): StoreFailure | null =>
  fileRefusal(lockFile(directory, "tollgate")) ?? fileRefusal(pidFile(directory, "tollgate"));

/** Takes the lock or throws `StoreFailure("locked")` with the owner's pid. The role `operator` writes `operator.json`. */
export function lockDirectory(directory: string, role: Role = "tollgate"): DirectoryLock {
  const lockPath = lockFile(directory, role);
  const pidPath = pidFile(directory, role);
  privateFile(lockPath);
  privateFile(pidPath);
  const handle = new Database(lockPath);
  try {
    handle.run("PRAGMA busy_timeout = 0");
    handle.run("BEGIN EXCLUSIVE");
  } catch (error) {
    handle.close();
    if (isDiskFull(error)) throw diskFull(directory);
    const owner = readFileSync(pidPath, "utf8").trim();
    throw new StoreFailure(
      "locked",
      `the data directory ${directory} is in use by ${liveOwner(owner)}`,
      "stop it first, or name another directory with --data-dir",
    );
  }
  try {
    writeFileSync(pidPath, `${process.pid}\n`);
  } catch (error) {
    handle.close();
    throw isDiskFull(error) ? diskFull(directory) : error;
  }
  return {
    release: () => {
      writeFileSync(pidPath, "");
      handle.close();
    },
  };
}

/** A lock with an unknown pid is held by another host on a shared file system, or was taken just now. */
function liveOwner(pid: string): string {
  return /^\d+$/.test(pid) && isAlive(Number(pid)) ? `process ${pid}` : "another process";
}
