// The note that a successful `db backup` leaves in the data directory, so that the gateway can report
// the age of the last backup. It is only for people: nothing is restored from it.
import { DAY_MS } from "../domain/durations.ts";
import { printTime } from "../domain/print.ts";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "last-backup.json";

export interface Backup {
  atMs: number;
  /** The total size of the files written. */
  bytes: number;
}

/** Replaces the previous note atomically: a reader finds one or the other. */
export function noteBackup(dataDir: string, { atMs, bytes }: Backup): void {
  const file = join(dataDir, NAME);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ at: printTime(atMs), bytes })}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

const WITHIN_MS = 7 * DAY_MS;

/** True after a week without a backup, or if there is none at all. */
export const isOverdue = (last: Backup | null, nowMs: number): boolean =>
  last === null || nowMs - last.atMs > WITHIN_MS;

/** Returns null if no backup was made from this directory, or if the file is not ours. */
export function lastBackup(dataDir: string): Backup | null {
  const file = join(dataDir, NAME);
  if (!existsSync(file)) return null;
  try {
    const { at, bytes } = JSON.parse(readFileSync(file, "utf8")) as { at?: unknown; bytes?: unknown };
    const atMs = typeof at === "string" ? Date.parse(at) : Number.NaN;
    return Number.isNaN(atMs) || typeof bytes !== "number" ? null : { atMs, bytes };
  } catch {
    return null; // a torn or foreign file does not count as a backup
  }
}
