// Changes the embedded store's data key. Ledger and people are two files and must change in one commit: with
// rollback journals, whose commit over several files is atomic, unlike that of write-ahead logs.
import type { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { messageOf } from "../domain/error-message.ts";
import { fileBytesMax } from "../lib/shortage.ts";
import { databasePath } from "../store/sqlite-connection.ts";
import { systemClock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { peopleFile } from "../people/store.ts";
import { dataKeyCheck, drawNextDataKey, hasNextDataKey, takeNextDataKey } from "../store/data-key.ts";
import { fileTooLong, openedFrom, privateFile } from "../store/private-file.ts";
import { isBusy, isDiskFull, isStoreFailure } from "../store/sqlite-error.ts";
import { runOnSqlite } from "../store/sqlite-sql.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { resolveRunning } from "./resolve-running.ts";
import { type RotateAsk, rotated, type Rotation } from "./rotating.ts";

/** Null if an earlier run had already committed. */
export async function rotateSqlite(on: RotateAsk): Promise<Rotation | null> {
  const begun = hasNextDataKey(on.dataDir);
  assertMayWrite(on.dataDir);
  const store = openSqliteStore(on.dataDir);
  try {
    if (begun && !hasNextDataKey(on.dataDir)) return null;
    await resolveRunning(store);
    const change = { from: store.dataKey, to: drawNextDataKey(on.dataDir) };
    crashPoint("rotate_drawn");
    const rotation = await inOneCommit(store, on.dataDir, (people) =>
      rotated(
        {
          run: async (query) => runOnSqlite(store.writer, query),
          people,
          nowMs: systemClock.nowMs(),
        },
        change,
        on,
      ),
    );
    crashPoint("rotate_committed");
    if (takeNextDataKey(on.dataDir, dataKeyCheck(change.to)) === null)
      throw new Error("the new key is not where it was created");
    return rotation;
  } finally {
    store.close();
  }
}

async function inOneCommit<T>(
  { writer }: SqliteStore,
  dataDir: string,
  work: (people: boolean) => Promise<T>,
): Promise<T> {
  const people = existsSync(peopleFile(dataDir));
  if (people) attachPeople(writer, peopleFile(dataDir));
  setForOneCommit(writer);
  writer.run("BEGIN EXCLUSIVE");
  try {
    const result = await work(people);
    writer.run("COMMIT");
    return result;
  } catch (error) {
    if (writer.inTransaction) writer.run("ROLLBACK");
    if (isDiskFull(error)) throw noRoom(dataDir);
    throw isStoreFailure(error) ? unwritten(dataDir, error) : error;
  }
}

function attachPeople(writer: Database, file: string): void {
  privateFile(file);
  openedFrom(file, () => writer.query("ATTACH ?1 AS people").run(file));
}

/**
 * Every open sets these again. EXTRA: the end of a journal is on disk, too, before the commit returns. Deleted content
 * is overwritten.
 */
function setForOneCommit(writer: Database): void {
  const files = writer.query<{ name: string }, []>("PRAGMA database_list").all();
  for (const { name } of files) if (!keepsJournal(writer, name)) throw opened();
  writer.run("PRAGMA synchronous = EXTRA");
  writer.run("PRAGMA secure_delete = ON");
}

/** False if another process has the file open: then it keeps its log. */
function keepsJournal(writer: Database, name: string): boolean {
  try {
    return writer.query(`PRAGMA ${name}.journal_mode = DELETE`).values()[0]?.[0] === "delete";
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** What a log and a journal take beside a small store. */
const BESIDE_BYTES = 8 * 1024 * 1024;

/** A limit of file sizes is met in the middle of whatever is written: it is compared with what will be. */
function assertMayWrite(dataDir: string): void {
  const limit = fileBytesMax();
  if (limit === null) return;
  for (const path of [databasePath(dataDir), peopleFile(dataDir)]) {
    const bytes = [path, `${path}-wal`].reduce(
      (sum, file) => sum + (existsSync(file) ? statSync(file).size : 0),
      0,
    );
    if (limit < bytes + BESIDE_BYTES) throw fileTooLong(path, limit);
  }
}

const unwritten = (dataDir: string, error: unknown): StoreFailure =>
  new StoreFailure(
    "disk_full",
    `the store in ${dataDir} cannot be written (${messageOf(error)})`,
    "look at its disk: it may be read-only or damaged; then run this again: nothing was changed",
  );

const noRoom = (dataDir: string): StoreFailure =>
  new StoreFailure(
    "disk_full",
    `the disk of ${dataDir} is full: changing the key briefly needs as much space as the stored answers take`,
    "free some space, then run this again: nothing was changed",
  );

const opened = (): StoreFailure =>
  new StoreFailure(
    "locked",
    "another program (a backup, an audit, sqlite3) has the store open",
    "stop it, then run this again: nothing was changed",
  );
