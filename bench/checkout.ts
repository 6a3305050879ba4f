// A revision of this repository as a tree of files that can run: its own sources, and the dependencies of this tree where
// both lock the same ones.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "./peers.ts";

export interface Checkout {
  folder: string;
  /** Abbreviated hash and subject of its commit. */
  title: string;
}

/** Writes the tree of `revision` into `folder`. Throws when git does not know it, or when it cannot be installed. */
export function checkOut(revision: string, folder: string): Checkout {
  const title = run(["git", "log", "-1", "--format=%h %s", revision, "--"], root).toString().trim();
  mkdirSync(folder);
  run(["tar", "-x", "-C", folder], root, run(["git", "archive", revision], root));
  const lock = (tree: string): string => readFileSync(join(tree, "package-lock.json"), "utf8");
  if (lock(folder) === lock(root)) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  else run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], folder);
  return { folder, title };
}

/** Nothing in the repository is left behind by this: no branch, no worktree that git remembers. */
function run(command: string[], cwd: string, stdin: Uint8Array | "ignore" = "ignore"): Buffer {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin, stderr: "pipe" });
  if (!success) throw new Error(`${command.slice(0, 2).join(" ")}: ${stderr.toString().trim()}`);
  return stdout;
}
