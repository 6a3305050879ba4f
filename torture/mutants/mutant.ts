// A known bug, put back: edits on a copy of the source tree, each of which must apply exactly once, so that a mutant
// never turns harmless without a word when the code moves on.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mix } from "../mix.ts";
import { checkout } from "../world.ts";

export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Mutant {
  name: string;
  /** What goes wrong with it, as a customer would tell it. */
  bug: string;
  edits: Edit[];
  /** The traffic and the chaos that bring it to light within `seconds`. */
  mix: Mix;
  seconds: number;
}

/** What a gateway needs to run; `node_modules` is linked. */
const TREE = ["src", "cli", "tollgate", "tollgate-bun", "package.json", "tsconfig.json"];

/** A copy of the checkout with the edits; returns its directory. Throws when one does not apply exactly once. */
export function plant({ name, edits }: Pick<Mutant, "name" | "edits">): string {
  const edited = edits.map((edit) => ({ file: edit.file, text: apply(edit) }));
  const root = mkdtempSync(join(tmpdir(), `tollgate-mutant-${name}-`));
  mkdirSync(root, { recursive: true });
  for (const path of TREE) cpSync(join(checkout, path), join(root, path), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
  for (const { file, text } of edited) writeFileSync(join(root, file), text);
  return root;
}

/** The file's text with the edit in it. */
export function apply({ file, find, replace }: Edit): string {
  const parts = readFileSync(join(checkout, file), "utf8").split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times, not once:\n${find}`);
  return parts.join(replace);
}
