// A known bug, put back: edits to a copy of the source tree. Each edit must apply exactly once, so that a mutant
// never becomes harmless unnoticed when the code moves on.
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
  /** What goes wrong, as a customer would describe it. */
  bug: string;
  edits: Edit[];
  /** The store that has the bug: with PostgreSQL the run uses two gateways on one database. */
  store?: "postgres";
  /** The traffic and the chaos that reveal it within `seconds`. */
  mix: Mix;
  seconds: number;
  /** True if it shows beside a flood of prompts. */
  fairness?: boolean;
}

/** What a gateway needs to run; `node_modules` is linked. */
const TREE = ["src", "cli", "tollgate", "tollgate-bun", "package.json", "tsconfig.json"];

/**
 * Makes a copy of the checkout with the edits and returns its directory. Throws if an edit does not apply exactly
 * once.
 */
export function plant(mutant: Pick<Mutant, "name" | "edits">): string {
  const edited = edit(mutant);
  const root = mkdtempSync(join(tmpdir(), `tollgate-mutant-${mutant.name}-`));
  for (const path of TREE) cpSync(join(checkout, path), join(root, path), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(root, "node_modules"));
  for (const [file, text] of edited) writeFileSync(join(root, file), text);
  return root;
}

/** The texts of the edited files. */
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
