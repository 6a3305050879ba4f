// What `db backup` leaves in the data directory once it has succeeded, so that the gateway can say how old the last backup
// is. A line for people: nothing is restored by it.
import { DAY_MS } from "../domain/durations.ts";
import { printTime } from "../domain/print.ts";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "last-backup.json";

export interface Backup {
  atMs: number;
  /** Of all files that it wrote. */
  bytes: number;
}

/** Replaces the note of the backup before, whole: a reader finds one or the other. */
export function noteBackup(dataDir: string, { atMs, bytes }: Backup): void {
  const file = join(dataDir, NAME);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ at: printTime(atMs), bytes })}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

const WITHIN_MS = 7 * DAY_MS;

/** A week without a backup, or none at all. */
export const isOverdue = (last: Backup | null, nowMs: number): boolean =>
  last === null || nowMs - last.atMs > WITHIN_MS;

/** Null when none was made from this directory, and for a file that is not ours. */
export function lastBackup(dataDir: string): Backup | null {
  const file = join(dataDir, NAME);
  if (!existsSync(file)) return null;
  try {
    const { at, bytes } = JSON.parse(readFileSync(file, "utf8")) as { at?: unknown; bytes?: unknown };
    const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
    return Number.isNaN(atMs) || typeof bytes !== "number" ? null : { atMs, bytes };
  } catch {
    return null; // a torn or foreign file tells of no backup
  }
}
