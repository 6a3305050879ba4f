import { closeSync, openSync, writeSync } from "node:fs";

/** Writes a file of zeros until the disk is full. */
export function fillDisk(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const piece of [1024 * 1024, 4096]) {
      try {
        for (;;) writeSync(file, new Uint8Array(piece));
      } catch {
        // full for pieces of this size
      }
    }
  } finally {
    closeSync(file);
  }
}
