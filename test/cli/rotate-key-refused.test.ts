// `db rotate-key` where something cannot be written: it is refused before anything has changed, says why, and the store opens with
// the key that it has.
import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";
import { SmallDisk } from "../support/small-disk.ts";

const PATIENCE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "tollgate-unwritable-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A new store; its key is on `disk`, if there is one. */
function storeIn(name: string, disk?: SmallDisk): { dataDir: string; key: () => Buffer } {
  const dataDir = join(folder, name);
  openSqliteStore(dataDir).close();
  const path = join(dataDir, "data.key");
  if (disk !== undefined) {
    runs("mv", path, join(disk.path, "data.key"));
    symlinkSync(join(disk.path, "data.key"), path);
  }
  return { dataDir, key: () => readFileSync(path) };
}

const runs = (program: string, ...args: string[]): number | null => spawnSync(program, args).status;

const rotate = (dataDir: string): Promise<Ran> =>
  runToEnd(PROGRAM, ["--data-dir", dataDir, "db", "rotate-key"], { cwd: folder });

/** Refused with these words, with the old key in place and nothing beside it that is no key. */
async function refused(of: ReturnType<typeof storeIn>, words: RegExp, run = rotate): Promise<void> {
  const before = of.key();
  const { code, err } = await run(of.dataDir);
  expect(err).toMatch(words);
  expect(err).toContain("nothing was changed");
  expect(code).toBe(1);
  expect(of.key()).toEqual(before);
  openSqliteStore(of.dataDir).close();
}

async function succeeds({ dataDir, key }: ReturnType<typeof storeIn>): Promise<void> {
  const before = key();
  expect((await rotate(dataDir)).code).toBe(0);
  expect(key().equals(before)).toBe(false);
  openSqliteStore(dataDir).close();
}

test(
  "a limit of file sizes that the store does not fit into",
  async () => {
    const store = storeIn("limited");
    const shell = 'ulimit -f 64; exec "$0" --data-dir "$1" db rotate-key';
    await refused(
      store,
      /tollgate\.sqlite cannot be written: this process may write no file above \d+ bytes; raise that limit/,
      (dataDir) => runToEnd("/bin/sh", ["-c", shell, PROGRAM, dataDir], { cwd: folder }),
    );
    expect(readdirSync(store.dataDir).filter((name) => name.startsWith("data.key"))).toEqual(["data.key"]);
    await succeeds(store);
  },
  PATIENCE_MS,
);

const disk = SmallDisk.mount(1);
afterAll(() => disk.release());

test.skipIf(!disk.isMounted)(
  "a key on a disk that is full, then read-only; then it is changed",
  async () => {
    const store = storeIn("elsewhere", disk);
    const filler = join(disk.path, "filler");
    fillDisk(filler);
    await refused(store, /the new data key cannot be put into .*no space left/i);
    expect(readdirSync(disk.path).toSorted()).toEqual(["data.key", "filler"]);
    truncateSync(filler, 0);
    const remounted = (how: string) => runs("mount", "-o", `remount,${how}`, disk.path);
    expect(remounted("ro")).toBe(0);
    const before = store.key();
    const { code, err } = await rotate(store.dataDir);
    expect([code, store.key()]).toEqual([1, before]);
    expect(err).toMatch(/data\.key cannot be read and written|cannot be put into/);
    expect(remounted("rw")).toBe(0);
    await succeeds(store);
  },
  PATIENCE_MS,
);

test.skipIf(!disk.isMounted)(
  "a key that is mounted as a file, which cannot be replaced",
  async () => {
    const store = storeIn("mounted");
    const path = join(realpathSync(store.dataDir), "data.key");
    const source = join(folder, "secret");
    renameSync(path, source);
    runs("cp", "-p", source, path);
    expect(runs("mount", "--bind", source, path)).toBe(0);
    try {
      await refused(store, /the new data key cannot be put into .*which must be no mount of its own/);
    } finally {
      runs("umount", path);
    }
    await succeeds(store);
  },
  PATIENCE_MS,
);
