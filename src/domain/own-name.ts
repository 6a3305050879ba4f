// The name of this program in hints, for the person who reads them.
import { basename, dirname } from "node:path";
import { inExecutable } from "../lib/program.ts";

/** The name of this program in the project and in all our texts. */
const PROJECT_NAME = "./tollgate";

/**
 * The name here: as given by the environment if it is called by other means; else the single executable's name if a shell finds it,
 * or its path.
 */
export const OWN_NAME =
  process.env["TOLLGATE_CALLED_AS"] || (inExecutable ? executableName(process.execPath) : PROJECT_NAME);

function executableName(path: string): string {
  const name = basename(path);
  if (Bun.which(name) === path) return name;
  return dirname(path) === process.cwd() ? `./${name}` : path;
}

/** One of our texts with commands that can be pasted here; `./tollgate.yaml` is not a command. */
export const asCalledHere = (text: string): string =>
  OWN_NAME === PROJECT_NAME ? text : text.replaceAll(/\.\/tollgate(?![\w.-]*\w)/g, () => OWN_NAME);
