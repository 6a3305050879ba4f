// Disks that a killed test left mounted do not keep the next run from starting.
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFolder } from "./memory-folder.ts";
import { SmallDisk, unmountBelow } from "./small-disk.ts";

const probe = SmallDisk.mount(1);
const mayMount = probe.isMounted;
probe.release();

const mountAt = (place: string): boolean =>
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]).success;

test.skipIf(!mayMount)("a disk is as small as it says, is there for temporary files, and goes", async () => {
  const disk = SmallDisk.mount(2);
  const { bsize, blocks } = statfsSync(disk.path);
  expect(bsize * blocks).toBe(2 * 1024 * 1024);
  const before = tmpdir();
  expect(await disk.asTmpdir(async () => tmpdir())).toBe(disk.path);
  expect(tmpdir()).toBe(before);
  writeFileSync(join(disk.path, "file"), "x");
  disk.release();
  expect(existsSync(disk.path)).toBe(false);
});

test.skipIf(!mayMount)(
  "disks below a folder are unmounted, also within each other; one beside it is not",
  () => {
    const home = mkdtempSync(join(tmpdir(), "tollgate mounts-"));
    const [folder, beside] = [join(home, "folder"), join(home, "folder-2")];
    for (const place of [join(folder, "disk"), join(folder, "disk", "disk"), beside]) {
      mkdirSync(place, { recursive: true });
      expect(mountAt(place)).toBe(true);
    }
    const isOwn = (place: string): boolean => statSync(place).dev !== statSync(home).dev;
    unmountBelow(folder);
    expect([isOwn(join(folder, "disk")), isOwn(beside)]).toEqual([false, true]);
    unmountBelow(home);
    expect(isOwn(beside)).toBe(false);
    rmSync(home, { recursive: true });
  },
);

test.skipIf(!mayMount || !existsSync("/dev/shm"))(
  "a run that begins removes the folder of a dead one, with the disks in it",
  () => {
    const { pid } = spawnSync("true");
    const left = `/dev/shm/tollgate-tests-${pid}`;
    const disk = join(left, "tollgate-disk-1");
    mkdirSync(disk, { recursive: true });
    expect(mountAt(disk)).toBe(true);
    try {
      MemoryFolder.make()?.remove();
      expect(existsSync(left)).toBe(false);
    } finally {
      unmountBelow(left);
      rmSync(left, { recursive: true, force: true });
    }
  },
);
