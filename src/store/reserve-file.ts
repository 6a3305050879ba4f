// A file that is given up when the disk is full, so that settlements of running requests still fit (money.md
// §2). While it is missing no new money is held; it is recreated once there is room for it and as much again.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { nearestExisting } from "./private-file.ts";
import { StoreFailure } from "./store-failure.ts";

const BALLAST_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

export interface ReserveFile {
  /** False after it was given up, until `restore` has recreated it. */
  readonly whole: boolean;
  giveUp(): void;
  /** Recreates it if there is room. Returns whether it is whole. */
  restore(): boolean;
}

/** Throws `StoreFailure` if the disk has no room for it. */
export function openReserveFile(dataDirectory: string): ReserveFile {
  const path = pathIn(dataDirectory);
  let whole = isWhole(path);
  const restore = (): boolean => {
    whole ||= roomIn(dataDirectory) && fill(path);
    return whole;
  };
  if (!restore()) throw diskFull(dataDirectory);
  return {
    get whole() {
      return whole;
    },
    giveUp: () => {
      whole = false;
      rmSync(path, { force: true });
    },
    restore,
  };
}

const pathIn = (dataDirectory: string): string => join(dataDirectory, "ballast");
const isWhole = (path: string): boolean => existsSync(path) && statSync(path).size === BALLAST_BYTES;

/** The failure of a start, or of a command that opens the store like one, that finds no room in its directory. */
export const diskFull = (dataDirectory: string): StoreFailure =>
  new StoreFailure(
    "disk_full",
    `the disk of ${dataDirectory} is full`,
    `free at least ${(2 * BALLAST_BYTES) / 1024 / 1024} MiB and start again`,
  );

/** Returns why it would not open there, even if the directory does not exist yet; null if it would. Makes nothing. */
export const reserveRefusal = (dataDirectory: string): StoreFailure | null =>
  isWhole(pathIn(dataDirectory)) || roomIn(nearestExisting(dataDirectory)) ? null : diskFull(dataDirectory);

/** True if there is room for the reserve file and as much again: space that it has just given up does not count. */
function roomIn(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= 2 * BALLAST_BYTES;
}

/**
 * Written, not only sized, because a hole reserves nothing. Neither do zeros on a file system that
 * compresses, or after a copy that turns them into holes (`rsync --sparse`, `tar --sparse`).
 */
function fill(path: string): boolean {
  const partial = `${path}.partial`;
  const piece = randomBytes(PIECE_BYTES);
  const file = openSync(partial, "w", 0o600);
  try {
    for (let written = 0; written < BALLAST_BYTES; ) written += writeSync(file, piece);
    renameSync(partial, path);
    return true;
  } catch {
    rmSync(partial, { force: true });
    return false;
  } finally {
    closeSync(file);
  }
}
