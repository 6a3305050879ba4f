// Writes files that people may have edited since: never overwrites anything, follows no link.
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Kept {
  written: string[];
  replaced: string[];
  /** Files that already have this content. */
  unchanged: string[];
  /** Files with other content, left as they are. */
  kept: string[];
}

/** Writes files into a directory and creates it if needed. The names must not contain folders. */
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

/** The content of the file; null if there is nothing. A link or a folder never equals any text. */
function contentOf(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  return found.isFile() ? readFileSync(path, "utf8") : "";
}
