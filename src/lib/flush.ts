// What was written to a file, or which names a directory has, on its way to the disk.
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Once it returns, that outlives a power failure. */
export function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
