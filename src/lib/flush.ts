// Flushes a file's contents, or a directory's entries, to disk.
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Once it returns, they survive a power failure. */
export function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
