// Files that only the owner may read: the data directory is 0700, everything in it 0600 (hardening.md S39). Too open
// modes are tightened; what cannot be tightened refuses the start.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { messageOf } from "../domain/error-message.ts";
import { StoreFailure } from "./store-failure.ts";

/** Creates the directory when it is missing and makes sure that we may write there, and nobody else may enter it. */
export function privateDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreFailure(
      "permissions",
      `the data directory ${path} cannot be written (${messageOf(error)}); make it writable for this user, or give another one: --data-dir or TOLLGATE_DATA_DIR`,
    );
  }
  tighten(path, 0o700);
}

/** Creates an empty file when it is missing, before anything is written to it, and closes it to others. */
export function privateFile(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    if (statSync(path).isDirectory()) throw new Error("it is a directory");
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new StoreFailure(
      "permissions",
      `${path} cannot be read and written (${messageOf(error)}); whatever is in the data directory must be a file of the user who runs the gateway, also what another one left there: chown -R USER ${dirname(path)}`,
    );
  }
  tighten(path, 0o600);
}

/** Opens a database file; what SQLite says of one that it cannot open names neither file nor way out. */
export function openedFrom<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    throw new StoreFailure(
      "database",
      `${path} cannot be opened (${messageOf(error)}); it and ${basename(path)}-wal beside it must be files of this user, as a gateway left them; where they are damaged, stop the gateway and put the last backup in their place: ./tollgate db restore FILE`,
    );
  }
}

function tighten(path: string, mode: number): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode);
  } catch {
    // Not the owner, or a file system without modes: the check below decides.
  }
  const found = statSync(path).mode & 0o777;
  if ((found & 0o077) !== 0) {
    const wanted = `chmod ${mode.toString(8)} ${path}`;
    throw new StoreFailure(
      "permissions",
      `${path} is open to other users (mode ${found.toString(8)}) and could not be closed; run: ${wanted}`,
    );
  }
}
