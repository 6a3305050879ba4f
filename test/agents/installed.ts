// The clients of a group, installed as their lock file says into a cache of their own: a hundred megabytes and more that
// nobody needs for anything else. By itself (`npm run test:clients`) it installs all of them.
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const GROUPS = ["coding", "libraries"] as const;
type Group = (typeof GROUPS)[number];

const CACHE = join(import.meta.dir, "../../node_modules/.cache/tollgate-clients");
const LOCK = "package-lock.json";

/** The `node_modules` of a group; installs it where its lock file has changed since. No script of a package runs. */
async function installed(group: Group): Promise<string> {
  const [source, folder] = [join(import.meta.dir, group), join(CACHE, group)];
  const modules = join(folder, "node_modules");
  const stamp = join(modules, ".tollgate-lock");
  const lock = readFileSync(join(source, LOCK), "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return modules;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", LOCK]) cpSync(join(source, name), join(folder, name));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = Bun.spawn(["npm", "ci", ...flags], { cwd: folder, stdin: "ignore", stdout: "ignore" });
  if ((await child.exited) !== 0) throw new Error(`npm ci failed in ${folder}`);
  await Bun.write(stamp, lock);
  return modules;
}

/** The program that the package of this platform brings. */
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
