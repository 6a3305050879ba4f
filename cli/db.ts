// Commands on the store itself: `db migrate` upgrades it to this program's schema; `db backup` copies a live embedded
// store and `db restore` puts such a copy back; `db move` moves it to PostgreSQL while no gateway runs. They find the
// store as `serve` does: flags, environment, tollgate.yaml.
import { Database } from "bun:sqlite";
import { closeSync, existsSync, lstatSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { addRotateKey } from "./rotate-key.ts";
import { counted } from "../src/domain/counted.ts";
import { PEOPLE_FILE } from "../src/domain/data-files.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { crashPoint } from "../src/lib/crash-point.ts";
import { flush } from "../src/lib/flush.ts";
import type { RestoreReport } from "../src/main/restore-report.ts";
import type { RestoreResult } from "../src/main/restore.ts";
import { isDiskFull } from "../src/store/sqlite-error.ts";
import { Problem, WrongUsage } from "./problem.ts";
import { type Outcome, report, say } from "./report.ts";
import { assertStore, dataDirOf, storeIn, storeOf, withConfig } from "./store-place.ts";

export function addDb(program: Command): void {
  const db = program.command("db").description("the store itself");
  withConfig(db.command("migrate"))
    .description("migrate the store to this program's schema; the gateway must be stopped")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const { dataDir, databaseUrl } = await storeOf(command);
        if (databaseUrl !== null) return await migratePostgres(databaseUrl, dataDir);
        await assertStore(dataDir);
        const { NEWEST_SCHEMA } = await import("../src/store/migrations/list.ts");
        const { openSqliteStore } = await import("../src/store/sqlite.ts");
        openSqliteStore(dataDir).close();
        const done = { data_dir: dataDir, schema: NEWEST_SCHEMA };
        return { json: JSON.stringify(done), text: `The store in ${dataDir} has schema ${done.schema}.` };
      }),
    );
  withConfig(db.command("key <file>"))
    .description("install the data key that all gateways of a database share")
    .option(
      "--replace",
      "replace an existing key, after ./tollgate db rotate-key; the old one is kept beside it",
    )
    .action((file: string, { replace }: { replace?: true }, command: Command) =>
      report(command, async () => {
        const dataDir = await dataDirOf(command);
        const { adoptDataKey } = await import("../src/store/data-key.ts");
        adoptDataKey(dataDir, file, { replace: replace === true });
        return { json: JSON.stringify({ data_dir: dataDir }), text: `The data key is in ${dataDir}.` };
      }),
    );
  addRotateKey(db);
  addMove(db);
  withConfig(db.command("backup <file>"))
    .description("back up the store to a file, consistently, while traffic runs")
    .action((file: string, _: object, command: Command) =>
      report(command, async () => {
        const { dataDir, databaseUrl } = await storeOf(command);
        if (databaseUrl !== null)
          throw new Problem(
            "The store is PostgreSQL, whose own tools back it up.",
            "Use pg_dump or your provider's snapshots, and keep a copy of data.key; docs/operations.md shows how.",
          );
        const target = resolve(file);
        await assertStore(dataDir);
        await assertNotMoving(dataDir);
        // Accounts and memberships have a file of their own beside the store, from the first sign-in on.
        const people = join(dataDir, PEOPLE_FILE);
        backUpBoth({ store: storeIn(dataDir), people }, target);
        say("Stored answers in it stay encrypted: keep a copy of data.key in a separate place.");
        const copied = existsSync(people) ? `${target}.people` : null;
        await leaveTrace(dataDir, [target, ...(copied === null ? [] : [copied])]);
        const done = { file: target, bytes: statSync(target).size, people: copied };
        return {
          json: JSON.stringify(done),
          text: `${counted(done.bytes, "byte")} written to ${target}${copied === null ? "" : ` and ${copied}`}.`,
        };
      }),
    );
  addRestore(db);
}

function addRestore(db: Command): void {
  withConfig(db.command("restore <file>"))
    .description("restore a backup, keeping the present store beside it; the gateway must be stopped")
    .action((file: string, _: object, command: Command) =>
      report(command, async () => {
        const { dataDir, databaseUrl } = await storeOf(command);
        if (databaseUrl !== null)
          throw new Problem(
            "The store is PostgreSQL, whose own tools restore it.",
            "Stop all gateways, use pg_restore or your provider's snapshots, put the data.key of that database into the data directories, and start them; docs/operations.md shows how.",
          );
        const { commandOn } = await import("../src/config/data-dir.ts");
        const { restoreBackup } = await import("../src/main/restore.ts");
        const { restoredReport } = await import("./restored.ts");
        const place = { dataDir, file: resolve(file), tollgate: commandOn(dataDir) };
        const reported = (restored: RestoreResult): RestoreReport => restoredReport(restored, place);
        return reported(restoreBackup(dataDir, place.file, reported));
      }),
    );
  withConfig(db.command("restored [report]"))
    .description("tell again what the last restore told, or an earlier one")
    .action((named: string | undefined, _: object, command: Command) =>
      report(command, async () => {
        const dataDir = await dataDirOf(command);
        const { readReport, restoreReports } = await import("../src/main/restore-report.ts");
        const [newest] = restoreReports(dataDir);
        const file = named === undefined ? newest : resolve(named);
        if (file === undefined || !existsSync(file))
          throw new Problem(
            named === undefined
              ? `No restore in ${dataDir} has left a report.`
              : `There is no report at ${named}.`,
            "Name the data directory with --data-dir, or the report: restored-TIME.json in it.",
          );
        return readReport(file);
      }),
    );
}

function addMove(db: Command): void {
  withConfig(db.command("move"))
    .description("copy the embedded store into an empty PostgreSQL database; the gateway must be stopped")
    .requiredOption("--to <url>", "postgres://user:password@host:port/database")
    .option("--abandon", "cancel an unfinished move: the old store opens again, the database never does")
    .action((_: object, command: Command) =>
      report(command, async () => {
        const { to, abandon } = command.opts<{ to: string; abandon?: true }>();
        if (!/^postgres(ql)?:\/\//.test(to))
          throw new WrongUsage(`${to} is not a PostgreSQL URL.`, "Give postgres://…");
        const dataDir = await dataDirOf(command);
        await assertStore(dataDir);
        if (abandon === true) return await abandonMove(dataDir, to);
        const { commandOn } = await import("../src/config/data-dir.ts");
        const { moveToPostgres } = await import("../src/main/move.ts");
        const { rows, sums, people, keptAs, completedEarlierRun } = await moveToPostgres(dataDir, to, say);
        const printed = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum.toString()]));
        const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
        return {
          json: JSON.stringify({ moved: true, rows, sums_nano_usd: printed, people, kept_as: keptAs }),
          text: `${completedEarlierRun ? "Only the old store remained to be put aside." : `${counted(total, "row")} moved; counts, sums and the audit agree.`} The old store is kept as ${keptAs}.\n→ Set DATABASE_URL and start the gateway: ${commandOn(dataDir)} serve`,
        };
      }),
    );
}

async function abandonMove(dataDir: string, to: string): Promise<Outcome> {
  const { abandonMove: takeBack } = await import("../src/main/move.ts");
  const closed = await takeBack(dataDir, to);
  const database = closed
    ? "The database stays closed; drop it, and use an empty one for the next move."
    : "No data had reached the database.";
  return {
    json: JSON.stringify({ moved: false, abandoned: true, database_closed: closed, data_dir: dataDir }),
    text: `The move was cancelled: the store in ${dataDir} opens again. ${database}`,
  };
}

async function migratePostgres(url: string, dataDir: string): Promise<Outcome> {
  const { NEWEST_SCHEMA } = await import("../src/store/migrations/list.ts");
  const { openPostgresStore } = await import("../src/store/postgres.ts");
  const { placeOf } = await import("../src/store/postgres-error.ts");
  await (await openPostgresStore(url, dataDir, { say })).close();
  const done = { database: placeOf(url), schema: NEWEST_SCHEMA };
  return { json: JSON.stringify(done), text: `The database ${done.database} has schema ${done.schema}.` };
}

/** A backup of a store that is closed for a move would be closed as well. */
async function assertNotMoving(dataDir: string): Promise<void> {
  const { movingTo } = await import("../src/store/sqlite-inspect.ts");
  const moving = movingTo(dataDir);
  if (moving !== null)
    throw new Problem(
      `The store is ${moving}.`,
      "Finish the move with the same ./tollgate db move --to …, or cancel it with --abandon, and then back up.",
    );
}

/** Records the backup for System health. A backup that cannot be recorded still counts. */
async function leaveTrace(dataDir: string, files: readonly string[]): Promise<void> {
  const { noteBackup } = await import("../src/store/last-backup.ts");
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  try {
    noteBackup(dataDir, { atMs: Date.now(), bytes });
  } catch (error) {
    say(`System health will not show this backup: ${messageOf(error)}`);
  }
}

/**
 * Copies people first, which is quick, and the store right after: any pending audit lines in the people file are then
 * recognized if they have reached the audit log by then. The files get their names once both are complete and on disk,
 * the store's last: a file with that name is a complete backup.
 */
function backUpBoth({ store, people }: { store: string; people: string }, target: string): void {
  const copies = [
    ...(existsSync(people) ? [{ from: people, to: `${target}.people` }] : []),
    { from: store, to: target },
  ];
  for (const { to } of copies) assertNew(to);
  try {
    for (const { from, to } of copies) backUp(from, to);
    crashPoint("backup_written");
    for (const { to } of copies) renameSync(partOf(to), to);
    flush(dirname(target));
  } finally {
    for (const { to } of copies)
      for (const suffix of ["", "-journal"]) rmSync(partOf(to) + suffix, { force: true });
  }
}

/** The temporary name of a copy while it is written: two backups at the same time do not collide. */
const partOf = (target: string): string => `${target}.part-${process.pid}`;

function assertNew(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
    throw new Problem(`${target} exists already.`, "Give a new file's name.");
}

function makeNew(target: string): void {
  try {
    closeSync(openSync(partOf(target), "wx", 0o600));
  } catch (error) {
    throw new Problem(
      `${target} cannot be made (${messageOf(error)}).`,
      "Name a new file in a directory that exists and that this user may write.",
    );
  }
}

/** Copies one read snapshot, without blocking traffic. Only the owner can read the file, from its first byte on. */
function backUp(store: string, target: string): void {
  makeNew(target);
  const reader = new Database(store, { readonly: true });
  try {
    reader.run("PRAGMA busy_timeout = 5000");
    reader.query("VACUUM INTO ?1").run(partOf(target));
    flush(partOf(target));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new Problem(
      `${target} could not be written: the disk is full.`,
      "Free some space there, or name a file on another disk. Nothing is left of this backup, and the store is unchanged.",
    );
  } finally {
    reader.close();
  }
}
