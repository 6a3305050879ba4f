// The licences of the packages in the single executable, as their authors require.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Returns a section for each installed package of the lock file that is not a development tool, and for each in
 * `also`.
 */
export async function thirdPartyNotices(root: string, also: readonly string[]): Promise<string> {
  const lock = (await Bun.file(join(root, "package-lock.json")).json()) as {
    packages: Record<string, Locked>;
  };
  const sections = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== "" && (dev !== true || also.includes(path)))
    .filter(([path]) => existsSync(join(root, path)))
    .map(([path, { version = "", license = "see below" }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${textsOf(join(root, path))}`;
    });
  return `Tollgate contains the following packages.\n\n${sections.join("\n")}`;
}

const textsOf = (folder: string): string =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map((entry) => `${readFileSync(join(folder, entry.name), "utf8").trim()}\n`)
    .join("\n");
