// `db restore`: puts a backup in the place of the embedded store, while no gateway runs on it. Everything is
// verified on a copy next to the store first. From then on the copy's name keeps gateways out until it is in
// the store's place, so that no crash leaves a store next to another one's write-ahead log; running the
// command again finishes it.
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, renameSync, rmSync, statfsSync, statSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { printTime } from "../domain/print.ts";
import { receiptKeyOf } from "../gateway/signed-receipt.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { flush } from "../lib/flush.ts";
import { realPlace } from "../lib/real-place.ts";
import { messageOf } from "../domain/error-message.ts";
import { peopleFile } from "../people/store.ts";
import { adoptDataKey, dataKeyCheck, formerDataKeyOf, readDataKey } from "../store/data-key.ts";
import { lockDirectory } from "../store/directory-lock.ts";
import { MIGRATIONS, unapplied } from "../store/migrations/list.ts";
import { appliedIn } from "../store/migrate.ts";
import { passFence } from "../store/move-fence.ts";
import { privateDirectory, privateFile } from "../store/private-file.ts";
import { databasePath } from "../store/sqlite-connection.ts";
import { diskFull } from "../store/reserve-file.ts";
import { isDiskFull, withoutRoom } from "../store/sqlite-error.ts";
import { movingTo } from "../store/sqlite-inspect.ts";
import { movedAway, movedPath, restoringPath } from "../store/sqlite.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { type HeldOn, holdOn } from "./restore-held.ts";
import { restorePeople, type StandsAgain } from "./restore-people.ts";
import { keepReceiptKey, keepReceiptKeys } from "./restore-receipt-keys.ts";
import { keepReport, reportOf, reportsBefore, type RestoreReport } from "./restore-report.ts";

export interface RestoreResult {
  /** The backup's schema. */
  schema: number;
  bytes: number;
  /** Where accounts came from; null if the backup has none, and the existing ones stay. */
  people: string | null;
  /** The previous files, under their new names. */
  kept: string[];
  /**
   * The file of a former data key that the backup was made with, which is `data.key` again; null if the
   * current key fits.
   */
  formerKey: string | null;
  /** What was carried over from the replaced store; null if there was no readable store. */
  heldOn: HeldOn | null;
  /** Null if the backup has no accounts. */
  standsAgain: StandsAgain | null;
  /** Files of the reports of earlier restores here, newest first. */
  earlier: string[];
}

type ReportOf = (restored: RestoreResult) => RestoreReport;

/** Files of one SQLite database; only the one without a suffix always exists. */
const SUFFIXES = ["-wal", "-shm", "-journal", ""] as const;

/**
 * Throws `StoreFailure` with what to do; the old store is then unchanged, or closed until this runs again.
 * `reported`: what is printed about it, to be kept in the data directory before the store is in its place.
 */
export function restoreBackup(
  dataDirectory: string,
  file: string,
  reported: ReportOf | null = null,
): RestoreResult {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw refused(`there is no backup at ${file}`);
  privateDirectory(dataDirectory);
  const lock = lockDirectory(dataDirectory);
  try {
    assertStays(dataDirectory);
    const backup = filesOf(file);
    assertRoom(dirname(databasePath(dataDirectory)), backup);
    return putBack(dataDirectory, backup, reported);
  } finally {
    lock.release();
  }
}

/** The files of a backup; of one that is named by a link, those beside the file itself. */
interface Backup {
  /** As it was named. */
  file: string;
  store: string;
  people: string | null;
}

function filesOf(file: string): Backup {
  const store = realPlace(file);
  const people = [file, store].map((path) => `${path}.people`).find((path) => existsSync(path));
  return { file, store, people: people === undefined ? null : realPlace(people) };
}

function putBack(dataDirectory: string, backup: Backup, reported: ReportOf | null): RestoreResult {
  const { file, people } = backup;
  const store = databasePath(dataDirectory);
  const accounts = peopleFile(dataDirectory);
  const marker = restoringPath(dataDirectory);
  const [copy, copyOfPeople] = [`${store}.copy`, `${accounts}.copy`];
  try {
    copyWhole(backup.store, copy);
    const { schema, formerKey: found } = readBackup(copy, { file, dataDirectory });
    const again = existsSync(marker);
    // An interrupted restore had already moved some of the old files: the others get the same name, before they are read.
    const begunAt = again ? statSync(marker).mtime : freeSecond([store, accounts]);
    if (again) for (const path of people === null ? [store] : [store, accounts]) setAside(path, begunAt);
    const replaced = again ? asideName(store, begunAt) : store;
    const heldOn = existsSync(replaced) ? withDatabase(copy, file, holdingOn(replaced)) : null;
    const formerKey = found ?? (again ? formerKeyOfFirstRun(dataDirectory, begunAt) : null);
    keepReceiptKeyOfMeanwhile(copy, { file, dataDirectory, found, marker: again ? marker : null });
    const before = [asideName(accounts, begunAt), accounts].find((path) => existsSync(path)) ?? null;
    const standsAgain = people === null ? null : copyPeople(people, copyOfPeople, before);
    utimesSync(copy, begunAt, begunAt);
    flush(copy);
    renameSync(copy, marker);
    flush(dirname(marker));
    crashPoint("restore_verified");
    const kept = setAside(store, begunAt);
    if (people !== null) {
      kept.push(...setAside(accounts, begunAt));
      renameSync(copyOfPeople, accounts);
      flush(dirname(accounts));
    }
    crashPoint("restore_set_aside");
    const bytes = statSync(marker).size;
    const earlier = reportsBefore(dataDirectory, nameOf(begunAt));
    const restored = { schema, bytes, people, kept, formerKey, heldOn, standsAgain, earlier };
    if (reported !== null) keepReport(dataDirectory, nameOf(begunAt), reported(restored));
    if (found !== null) adoptDataKey(dataDirectory, found, { replace: true });
    crashPoint("restore_reported");
    renameSync(marker, store);
    flush(dirname(store));
    crashPoint("restore_done");
    return restored;
  } finally {
    for (const left of [copy, copyOfPeople])
      for (const suffix of SUFFIXES) rmSync(left + suffix, { force: true });
  }
}

/** A first run may have been killed when it had put the backup's key in its place already. */
function formerKeyOfFirstRun(dataDirectory: string, begunAt: Date): string | null {
  const report = reportOf(dataDirectory, nameOf(begunAt));
  if (report === null) return null;
  return (JSON.parse(report.json) as { former_key: string | null }).former_key;
}

/** Receipts of the key that is replaced stay verifiable, also when a killed run, which left `marker`, has replaced it. */
function keepReceiptKeyOfMeanwhile(
  copy: string,
  on: { file: string; dataDirectory: string; found: string | null; marker: string | null },
): void {
  const { file, dataDirectory, found, marker } = on;
  if (found !== null) {
    const key = receiptKeyOf(readDataKey(dataDirectory, "existing"));
    withDatabase(copy, file, (database) => keepReceiptKey(database, key));
  }
  if (marker === null) return;
  const first = new Database(marker, { readonly: true, safeIntegers: true });
  try {
    withDatabase(copy, file, (database) => keepReceiptKeys({ copy: database, replaced: first }));
  } finally {
    first.close();
  }
}

/** Copies and verifies the backup's people. */
function copyPeople(file: string, copy: string, replaced: string | null): StandsAgain {
  copyWhole(file, copy);
  return withDatabase(copy, file, (database) => {
    assertWhole(database);
    return restorePeople(database, replaced);
  });
}

/** Additional space for what is written into the copy. */
const MARGIN_BYTES = 16 * 1024 * 1024;

/** The replaced store stays on the disk; a restore that ran out of space might not keep all of it. */
function assertRoom(folder: string, { store, people }: Backup): void {
  const files = people === null ? [store] : [store, people];
  const copied = files.flatMap((file) => [file, `${file}-wal`]);
  const needed = copied.reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    MARGIN_BYTES,
  );
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed)
    throw new StoreFailure(
      "disk_full",
      `the disk of ${folder} has no room for the backup beside the store that it replaces: it needs ${Math.ceil(needed / 1024 / 1024)} MiB`,
      "free that much space, then run this again: nothing was changed",
    );
}

/** A store that has moved to PostgreSQL, or is being moved, must not be served from here as well. */
function assertStays(dataDirectory: string): void {
  if (existsSync(movedPath(dataDirectory))) throw movedAway(dataDirectory);
  if (!existsSync(databasePath(dataDirectory))) return;
  let moving: string | null = null;
  try {
    moving = movingTo(dataDirectory);
  } catch {
    return; // it is unreadable: that is why it is replaced
  }
  if (moving !== null)
    throw new StoreFailure(
      "moving",
      `the store is ${moving}`,
      "finish the move with the same ./tollgate db move --to …, or cancel it with --abandon, and then restore",
    );
}

/** The backup's schema, and the data key that it has. Throws if no gateway of this version would open it. */
function readBackup(
  copy: string,
  { file, dataDirectory }: { file: string; dataDirectory: string },
): { schema: number; formerKey: string | null } {
  const { applied, check } = withDatabase(copy, file, (database) => {
    assertWhole(database);
    const tables = database
      .query("SELECT name FROM sqlite_master WHERE name IN ('schema_migration', 'store_state')")
      .values();
    if (tables.length < 2) throw new Error("it is not a Tollgate store");
    const [state] = database.query("SELECT data_key_check FROM store_state").values();
    return { applied: appliedIn(database), check: state?.[0] as Uint8Array | undefined };
  });
  assertOpens(applied, file);
  const key = `${dataDirectory}/data.key`;
  if (!existsSync(key) || statSync(key).size === 0)
    throw new StoreFailure(
      "data_key",
      `there is no data key in ${dataDirectory}`,
      "first install the key that this backup was made with: ./tollgate db key FILE",
    );
  const schema = Math.max(0, ...applied.keys());
  const ours = dataKeyCheck(readDataKey(dataDirectory, "existing"));
  if (check !== undefined && Buffer.from(check).equals(Buffer.from(ours))) return { schema, formerKey: null };
  const formerKey = check === undefined ? null : formerDataKeyOf(dataDirectory, check);
  if (formerKey === null)
    throw new StoreFailure(
      "data_key",
      `${key} is not the key that this backup was made with`,
      "install that key (./tollgate db key FILE --replace), or name a backup of this store",
    );
  return { schema, formerKey };
}

/** The backup may be of a store that was being moved, or of a newer program. */
function assertOpens(applied: ReturnType<typeof appliedIn>, file: string): void {
  try {
    passFence(applied, null);
    unapplied(MIGRATIONS.sqlite, applied);
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const { reason, why } = error;
    if (reason === "moving")
      throw refused(`${file} is a store that was being moved to PostgreSQL when it was copied (${why})`);
    throw new StoreFailure(
      reason,
      `${file} cannot be restored (${why})`,
      "nothing was changed: use the program that it is from, or name another backup",
    );
  }
}

/**
 * Copies a database with its write-ahead log, if there is one: a store that was set aside can be restored,
 * too.
 */
function copyWhole(from: string, to: string): void {
  for (const suffix of SUFFIXES) rmSync(to + suffix, { force: true });
  privateFile(to);
  copyFileSync(from, to);
  if (!existsSync(`${from}-wal`)) return;
  privateFile(`${to}-wal`);
  copyFileSync(`${from}-wal`, `${to}-wal`);
}

/** Opens the copy as one file without a log; SQLite's errors are reported about the backup. */
function withDatabase<T>(copy: string, file: string, read: (database: Database) => T): T {
  try {
    const database = new Database(copy, { readwrite: true, safeIntegers: true });
    try {
      database.run("PRAGMA journal_mode = DELETE");
      return read(database);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(dirname(copy));
    throw refused(`${file} cannot be restored (${messageOf(error)})`);
  }
}

/** Null if the replaced store is unreadable: that is why it is replaced. */
const holdingOn =
  (replaced: string) =>
  (copy: Database): HeldOn | null => {
    try {
      return holdOn(copy, replaced);
    } catch (error) {
      if (withoutRoom(error)) throw error;
      return null;
    }
  };

function assertWhole(database: Database): void {
  const found = database.query("PRAGMA integrity_check(1)").values()[0]?.[0];
  if (found !== "ok") throw new Error(String(found));
  if (database.query("SELECT 1 FROM sqlite_master LIMIT 1").values().length === 0)
    throw new Error("it is empty");
}

const refused = (what: string): StoreFailure =>
  new StoreFailure("database", what, "nothing was changed: name another backup");

/** To the second. */
const nameOf = (at: Date): string => `${printTime(at.getTime()).slice(0, 19).replaceAll(":", "-")}Z`;

const asideName = (path: string, at: Date): string => `${path}.before-${nameOf(at)}`;

/** Now, or the next second whose name is not in use yet. */
function freeSecond(paths: readonly string[]): Date {
  const at = new Date();
  const taken = (): boolean =>
    paths.some((path) => SUFFIXES.some((suffix) => existsSync(asideName(path, at) + suffix)));
  while (taken()) at.setSeconds(at.getSeconds() + 1);
  return at;
}

/**
 * Renames the database with its log, so that SQLite opens it unchanged, unless an interrupted restore has done so
 * already: then the file under its name came from a backup. Returns the files kept.
 */
function setAside(path: string, at: Date): string[] {
  const aside = asideName(path, at);
  // The database itself comes last: once it is there, all of it is.
  if (!existsSync(aside))
    for (const suffix of SUFFIXES) {
      if (!existsSync(path + suffix)) continue;
      renameSync(path + suffix, aside + suffix);
      crashPoint("restore_aside");
    }
  flush(dirname(path));
  return SUFFIXES.map((suffix) => aside + suffix).filter((file) => existsSync(file));
}
