// Whether the file of a configuration is still the one that was read: a gateway reads it once, at its start.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "./configuration.ts";

/** SHA-256 of a file's text, hex. */
export const settingsDigest = (text: string | Buffer): string =>
  createHash("sha256").update(text).digest("hex");

/** The same of a file as it is now; null where it cannot be read. */
export function digestOfFile(path: string): string | null {
  try {
    return settingsDigest(readFileSync(path));
  } catch {
    return null; // gone, or no longer ours to read
  }
}

/** Whether it was changed or taken away since; null where there was none. */
export const fileChanged = ({ file, fileDigest }: Pick<Config, "file" | "fileDigest">): boolean | null =>
  file === null ? null : digestOfFile(file) !== fileDigest;
