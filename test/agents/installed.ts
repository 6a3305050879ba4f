// The clients of a group, installed from their lock file into their own cache: a hundred megabytes and more that
// nothing else needs. Run directly (`npm run test:clients`) it installs all of them.
import { join } from "node:path";
import { installedPackages } from "../support/installed-packages.ts";

const GROUPS = ["coding", "libraries"] as const;
type Group = (typeof GROUPS)[number];

/** The `node_modules` of a group. */
export const installed = async (group: Group): Promise<string> =>
  join(await installedPackages(join(import.meta.dir, group)), "node_modules");

/** The program in this platform's package. */
export async function program(pattern: string): Promise<string> {
  const modules = await installed("coding");
  const path = pattern.replace("{platform}", `${process.platform}-${process.arch}`);
  const [found] = new Bun.Glob(path).scanSync({ cwd: modules, absolute: true });
  if (found === undefined) throw new Error(`${path} is not in ${modules}: no package for this platform`);
  return found;
}

if (import.meta.main)
  for (const group of GROUPS) {
    const startedAt = performance.now();
    await installed(group);
    console.error(`${group}: installed (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  }
