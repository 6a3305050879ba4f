// A small disk for a test that fills it: in memory, and mounted only where this user may mount one.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MOUNTS = "/proc/self/mounts";

export class SmallDisk {
  private constructor(
    readonly path: string,
    readonly isMounted: boolean,
  ) {}

  /** `mode`: of its root, like `777`. */
  static mount(megabytes: number, { mode }: { mode?: string } = {}): SmallDisk {
    const path = mkdtempSync(join(tmpdir(), "tollgate-disk-"));
    const options = `size=${megabytes}m${mode === undefined ? "" : `,mode=${mode}`}`;
    return new SmallDisk(path, succeeds("mount", "-t", "tmpfs", "-o", options, "tmpfs", path));
  }

  /** Runs `work` with this disk as the place of temporary files. */
  async asTmpdir<T>(work: () => Promise<T>): Promise<T> {
    const { TMPDIR } = process.env;
    process.env["TMPDIR"] = this.path;
    try {
      return await work();
    } finally {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    }
  }

  release(): void {
    if (this.isMounted) unmount(this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Unmounts every disk below the folder, as far as this user may: a folder with a mounted disk in it cannot be removed. */
export function unmountBelow(folder: string): void {
  for (const place of mountedPlaces().toReversed()) if (place.startsWith(`${folder}/`)) unmount(place);
}

/** In the order in which they were mounted; none on a system that does not list them. */
function mountedPlaces(): string[] {
  let table: string;
  try {
    table = readFileSync(MOUNTS, "utf8");
  } catch {
    return [];
  }
  return table
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .map((place) =>
      place.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    );
}

const unmount = (place: string): boolean => succeeds("umount", "--lazy", place);

const succeeds = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;
