// Checks out a revision of this repository as a runnable tree: its own sources, and this tree's dependencies if both
// lock files are the same.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "./peers.ts";

export interface Checkout {
  folder: string;
  /** Abbreviated hash and subject of its commit. */
  title: string;
}

/**
 * Writes the tree of `revision` into `folder`. Throws if git does not know it, or if its dependencies cannot be
 * installed.
 */
export function checkOut(revision: string, folder: string): Checkout {
  const title = run(["git", "log", "-1", "--format=%h %s", revision, "--"], root).toString().trim();
  mkdirSync(folder);
  run(["tar", "-x", "-C", folder], root, run(["git", "archive", revision], root));
  const lock = (tree: string): string => readFileSync(join(tree, "package-lock.json"), "utf8");
  if (lock(folder) === lock(root)) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  else run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], folder);
  return { folder, title };
}

/** Leaves nothing behind in the repository: no branch, no worktree. */
function run(command: string[], cwd: string, stdin: Uint8Array | "ignore" = "ignore"): Buffer {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd, stdin, stderr: "pipe" });
  if (!success) throw new Error(`${command.slice(0, 2).join(" ")}: ${stderr.toString().trim()}`);
  return stdout;
}
