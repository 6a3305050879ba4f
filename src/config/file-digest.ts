// Tells whether the configuration file is still as it was read: a gateway reads it once, at start.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "./configuration.ts";

/** Returns the SHA-256 of a file's text, hex. */
export const settingsDigest = (text: string | Buffer): string =>
  createHash("sha256").update(text).digest("hex");

/** Returns the digest of a file as it is now; null if it cannot be read. */
export function digestOfFile(path: string): string | null {
  try {
    return settingsDigest(readFileSync(path));
  } catch {
    return null; // deleted, or no longer readable for us
  }
}

/** True if the file was changed or deleted since it was read; null if there was none. */
export const fileChanged = ({ file, fileDigest }: Pick<Config, "file" | "fileDigest">): boolean | null =>
  file === null ? null : digestOfFile(file) !== fileDigest;
