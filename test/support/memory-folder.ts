// A folder in memory for what tests write, if the machine has one with enough room that allows execution.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { unmountBelow } from "./small-disk.ts";

const HOME = "/dev/shm";
const NAME = /^tollgate-tests-(\d+)$/;
/** All files of a run write less than a tenth of it at once. */
const ROOM_BYTES = 8 * 1024 ** 3;

export class MemoryFolder {
  private constructor(readonly path: string) {}

  /** Null if there is none: a container's is small or forbids execution, and other systems have none. */
  static make(): MemoryFolder | null {
    if (!existsSync(HOME)) return null;
    removeLeftovers(); // which take room
    if (freemem() < ROOM_BYTES) return null;
    const { bavail, bsize } = statfsSync(HOME);
    if (bavail * bsize < ROOM_BYTES) return null;
    const folder = new MemoryFolder(join(HOME, `tollgate-tests-${process.pid}`));
    mkdirSync(folder.path, { recursive: true });
    chmodSync(folder.path, 0o755); // PostgreSQL runs as another user
    if (runsPrograms(folder.path)) return folder;
    folder.remove();
    return null;
  }

  remove(): void {
    removeFolder(this.path);
  }
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\nexit 7\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 7;
}

/** Removes folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(HOME)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeFolder(join(HOME, name));
  }
}

/** With the disks that tests mounted in it and did not unmount, as they were killed. */
function removeFolder(folder: string): void {
  unmountBelow(folder);
  rmSync(folder, { recursive: true, force: true });
}
