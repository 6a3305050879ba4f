// This program itself: where its own files are, and how it is started again. In the project they are below
// its folder, in the single executable (`npm run build`) below a virtual root of Bun's.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const EMBEDDED_ROOT = "/$bunfs/root";

/** True in the single executable. */
export const inExecutable = import.meta.dir.startsWith(EMBEDDED_ROOT);

const root = inExecutable ? EMBEDDED_ROOT : join(import.meta.dir, "../..");

/** The path of one of our files, given its path in the project. */
export const ownFile = (path: string): string => join(root, path);

/** The code of one of our threads, given its path in the project. */
export const ownThread = (path: `src/${string}-worker.ts`): URL => pathToFileURL(ownFile(path));

/** The command that runs this program again, without its arguments. */
export const ownCommand = (): string[] =>
  inExecutable ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
