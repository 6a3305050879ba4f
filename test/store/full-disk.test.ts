// A data directory without any space left: whatever needs it says that the disk is full, and not that somebody else
// uses the directory; a backup says which disk.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { fillDisk } from "../support/fill-disk.ts";
import { PROGRAM, runToEnd } from "../support/program.ts";
import { SmallDisk } from "../support/small-disk.ts";

const PATIENCE_MS = 60_000;
const disk = SmallDisk.mount(4, { mode: "700" });
const { DATABASE_URL: _, ...env } = process.env;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-full-"));
  openSqliteStore(join(folder, "data")).close();
});
afterAll(() => {
  disk.release();
  rmSync(folder, { recursive: true, force: true });
});

const tollgate = (...words: string[]): ReturnType<typeof runToEnd> => runToEnd(PROGRAM, words, { env });

test.skipIf(!disk.isMounted)(
  "a start, a restore and a change of the data key say that the disk is full, and what to free",
  async () => {
    const dataDir = join(disk.path, "data");
    cpSync(join(folder, "data"), dataDir, {
      recursive: true,
      filter: (path) => !path.endsWith("ballast"),
    });
    const backup = join(folder, "backup");
    expect((await tollgate("--data-dir", join(folder, "data"), "db", "backup", backup)).code).toBe(0);
    fillDisk(join(disk.path, "fill"));
    const names = (): string[] => readdirSync(dataDir).toSorted();
    const before = names();
    for (const words of [
      ["serve", "--port", "0"],
      ["db", "restore", backup],
      ["db", "rotate-key"],
    ]) {
      const { code, err } = await tollgate("--data-dir", dataDir, ...words);
      expect([words[1], code, err]).toEqual([
        words[1],
        1,
        expect.stringContaining(`the disk of ${dataDir} is full; free at least`),
      ]);
      expect(err).not.toContain("in use");
      expect(names()).toEqual(before);
    }
    // With room for the copy alone, what was revoked since could not be written into it.
    rmSync(join(disk.path, "fill"));
    const { code, err } = await tollgate("--data-dir", dataDir, "db", "restore", backup);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/has no room for the backup .+ nothing was changed/),
    ]);
    expect(names()).toEqual(before);
    rmSync(dataDir, { recursive: true });
  },
  PATIENCE_MS,
);

test.skipIf(!disk.isMounted)(
  "a backup onto a full disk names it, and leaves nothing there",
  async () => {
    fillDisk(join(disk.path, "fill"));
    const file = join(disk.path, "backup");
    const { code, err, out } = await tollgate(
      "--data-dir",
      join(folder, "data"),
      "db",
      "backup",
      file,
      "--json",
    );
    expect([code, err]).toEqual([1, expect.stringContaining(`${file} could not be written: `)]);
    expect(JSON.parse(out)).toMatchObject({ error: { next: expect.stringContaining("another disk") } });
    expect(readdirSync(disk.path)).toEqual(["fill"]);
  },
  PATIENCE_MS,
);
