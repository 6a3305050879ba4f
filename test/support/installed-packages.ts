// Packages that only some tests need, about a hundred megabytes: installed from their own lock file into their own
// cache, when such a test first runs.
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const CACHE = join(import.meta.dir, "../../node_modules/.cache/tollgate-clients");
const LOCK = "package-lock.json";

/**
 * The folder with their `node_modules`; installs them if the lock file in `source` has changed. Runs none of their
 * install scripts.
 */
export async function installedPackages(source: string): Promise<string> {
  const folder = join(CACHE, basename(source));
  const stamp = join(folder, "node_modules/.tollgate-lock");
  const lock = readFileSync(join(source, LOCK), "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", LOCK]) cpSync(join(source, name), join(folder, name));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = Bun.spawn(["npm", "ci", ...flags], { cwd: folder, stdin: "ignore", stdout: "ignore" });
  if ((await child.exited) !== 0) throw new Error(`npm ci failed in ${folder}`);
  await Bun.write(stamp, lock);
  return folder;
}
