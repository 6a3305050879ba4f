// Files that people may have changed since: nothing that is there is replaced unasked, and no link is followed.
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Kept {
  written: string[];
  replaced: string[];
  /** They say the same already. */
  unchanged: string[];
  /** They say otherwise, and stay. */
  kept: string[];
}

/** Writes files into a directory, which is made; their names have no folders in them. */
export function keepFiles(
  folder: string,
  files: readonly { name: string; text: string }[],
  { force }: { force: boolean },
): Kept {
  if (files.length > 0) mkdirSync(folder, { recursive: true });
  const done: Kept = { written: [], replaced: [], unchanged: [], kept: [] };
  for (const { name, text } of files) {
    const path = join(folder, name);
    const there = contentOf(path);
    if (there === text) done.unchanged.push(path);
    else if (there !== null && !force) done.kept.push(path);
    else {
      rmSync(path, { force: true });
      writeFileSync(path, text, { flag: "wx" });
      (there === null ? done.written : done.replaced).push(path);
    }
  }
  return done;
}

/** Null where nothing is; a link or a folder is something else than any text. */
function contentOf(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  return found.isFile() ? readFileSync(path, "utf8") : "";
}
