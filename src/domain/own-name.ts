// How this program is called by whoever reads its hints.
import { basename, dirname } from "node:path";
import { inExecutable } from "../lib/program.ts";

/** How this program is called in the project, and in every text of ours. */
const PROJECT_NAME = "./tollgate";

/** How it is called here: as somebody says who calls it by other means; else the single executable by its name where a shell finds it, or by its path. */
export const OWN_NAME =
  process.env["TOLLGATE_CALLED_AS"] || (inExecutable ? executableName(process.execPath) : PROJECT_NAME);

function executableName(path: string): string {
  const name = basename(path);
  if (Bun.which(name) === path) return name;
  return dirname(path) === process.cwd() ? `./${name}` : path;
}

/** A text of ours for whoever is here, with commands that can be pasted; `./tollgate.yaml` is no command. */
export const asCalledHere = (text: string): string =>
  OWN_NAME === PROJECT_NAME ? text : text.replaceAll(/\.\/tollgate(?![\w.-]*\w)/g, () => OWN_NAME);
