// A known bug, put back: edits on a copy of the source tree, each of which must apply exactly once, so that a mutant
// never turns harmless without a word when the code moves on.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mix } from "../mix.ts";
import { checkout } from "../world.ts";

interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Mutant {
  name: string;
  /** What goes wrong with it, as a customer would tell it. */
  bug: string;
  edits: Edit[];
  /** Where the bug is: with PostgreSQL it is played by two gateways on one database. */
  store?: "postgres";
  /** The traffic and the chaos that bring it to light within `seconds`. */
  mix: Mix;
  seconds: number;
  /** Whether it shows beside a flood of prompts. */
  fairness?: boolean;
}

/** What a gateway needs to run; `node_modules` is linked. */
const TREE = ["src", "cli", "tollgate", "tollgate-bun", "package.json", "tsconfig.json"];

/** A copy of the checkout with the edits; returns its directory. Throws when one does not apply exactly once. */
export function plant(mutant: Pick<Mutant, "name" | "edits">): string {
  const edited = edit(mutant);
  const root = mkdtempSync(join(tmpdir(), `tollgate-mutant-${mutant.name}-`));
  for (const path of TREE) cpSync(join(checkout, path), join(root, path), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
  for (const [file, text] of edited) writeFileSync(join(root, file), text);
  return root;
}

/** The edited files' texts. */
export function edit({ name, edits }: Pick<Mutant, "name" | "edits">): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const parts = (texts.get(file) ?? readFileSync(join(checkout, file), "utf8")).split(find);
    if (parts.length !== 2)
      throw new Error(`mutant ${name}: ${file} has this ${parts.length - 1} times, not once:\n${find}`);
    texts.set(file, parts.join(replace));
  }
  return texts;
}
