// `db move`: moves the embedded store into PostgreSQL, while no gateway runs on it. The old store is fenced
// first and the new one opens last, so that at every moment at most one of them opens for a gateway. The same
// command continues a killed move, and an unfinished move can be undone
// (docs/decisions/0021-a-move-is-fenced.md).
import type { Database } from "bun:sqlite";
import { PEOPLE_SCHEMA } from "../domain/data-files.ts";
import { HOUR_MS } from "../domain/durations.ts";
import { existsSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import type { ClientBase } from "pg";
import { verifyPostgres } from "../ledger/verify/postgres/verify.ts";
import { makeMonths } from "../ledger/postgres/months.ts";
import { systemClock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { messageOf } from "../domain/error-message.ts";
import { jobsOnStderr } from "../lib/jobs.ts";
import { randomBase62 } from "../lib/id.ts";
import { peopleRefusal } from "../people/open-store.ts";
import { carryBeforeMove, copyPeople, setPeopleAside } from "../people/move.ts";
import { assertEmpty, copyStore, type Moved } from "../store/move.ts";
import {
  abandonTarget,
  type MoveArrival,
  arrivalOf,
  assertUnused,
  type Fence,
  fenceSource,
  fenceTarget,
  liftSource,
  openTarget,
  sourceFence,
  WAY_OUT,
} from "../store/move-fence.ts";
import { checkingServer } from "../store/postgres-address.ts";
import { placeOf } from "../store/postgres-error.ts";
import { type InspectTerms, inspectPostgres } from "../store/postgres-inspect.ts";
import { connectLong, type Mover, openPostgresStore, type PostgresStore } from "../store/postgres.ts";
import { aloud, type Say, SILENT } from "../lib/aloud.ts";
import { lockDirectory } from "../store/directory-lock.ts";
import { openedFrom } from "../store/private-file.ts";
import { closeSqlite, connectSqlite, databasePath } from "../store/sqlite-connection.ts";
import { moveOf, openingRefusal } from "../store/sqlite-inspect.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { isNewStore, movedPath, openSqliteStore, type SqliteStore } from "../store/sqlite.ts";
import { StoreFailure, type StoreFailureReason } from "../store/store-failure.ts";
import { resolveRunning } from "./resolve-running.ts";

export interface MoveResult extends Moved {
  /** Rows of accounts, sessions and memberships copied by this run. */
  people: number;
  /** Where the old store is kept. */
  keptAs: string;
  /** An earlier run had moved everything, and was interrupted after that. */
  completedEarlierRun: boolean;
}

/**
 * Throws `StoreFailure` with what to do; both stores are then unchanged, or the old one is fenced until this runs
 * again.
 */
export async function moveToPostgres(
  dataDirectory: string,
  url: string,
  say: Say = SILENT,
): Promise<MoveResult> {
  const refusal = openingRefusal(dataDirectory, "mover") ?? peopleRefusal(dataDirectory);
  if (refusal !== null) throw refusal;
  const begun = moveOf(dataDirectory);
  if (begun !== null) assertSamePlace(begun, url);
  // Before the old store is opened, which migrates it: whatever would refuse the move refuses it here.
  await look(url, { dataDirectory, mover: { id: begun?.id ?? "", check: assertTakes(begun) } });
  if (isNewStore(dataDirectory)) openSqliteStore(dataDirectory, "mover").close();
  const lock = lockDirectory(dataDirectory);
  let released = false;
  try {
    const fence = onFile(dataDirectory, (database) => fenced(database, url));
    crashPoint("move_fenced");
    const { target, arrived } = await openFenced(dataDirectory, url, { ...fence, say });
    const completedEarlierRun = arrived === "moved";
    try {
      // Only now is the old store migrated: until here a refusal leaves it to the program that it is from.
      released = true;
      const source = openSqliteStore(dataDirectory, "mover", lock);
      let moved: Moved & { people: number };
      try {
        moved = completedEarlierRun
          ? { rows: {}, sums: {}, people: 0 }
          : await aloud(
              say,
              () => `the copy into ${placeOf(url)}`,
              () => arrive(source, target, fence.id),
            );
        source.writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
      } finally {
        source.close();
      }
      return { ...moved, keptAs: setAside(dataDirectory), completedEarlierRun };
    } catch (error) {
      throw interrupted(error, dataDirectory, url);
    } finally {
      await target.close();
    }
  } finally {
    if (!released) lock.release();
  }
}

/** Works on the file of a store that this process has locked, whatever its schema, and leaves that as it is. */
function onFile<T>(dataDirectory: string, work: (database: Database) => T): T {
  const path = databasePath(dataDirectory);
  const database = openedFrom(path, () => connectSqlite(path));
  try {
    return work(database);
  } finally {
    closeSqlite(database);
  }
}

/**
 * Undoes an unfinished move: the new store stays closed for good, then the old one opens. Returns whether anything
 * of the move had reached the new one.
 */
export async function abandonMove(dataDirectory: string, url: string): Promise<boolean> {
  const fence = moveOf(dataDirectory);
  if (fence === null)
    throw new StoreFailure(
      "moving",
      "no move of this store has begun",
      "nothing was changed: start the gateway as before",
    );
  assertSamePlace(fence, url);
  const lock = lockDirectory(dataDirectory);
  try {
    const { schema } = await look(url).catch((error: unknown) => {
      throw unanswered(error, fence);
    });
    const closed = schema > 0 && (await closeTarget(url, fence.id));
    onFile(dataDirectory, liftSource);
    return closed;
  } finally {
    lock.release();
  }
}

/**
 * Describes the database that a move was given. If the move is given too, throws whatever would refuse it. Changes
 * nothing.
 */
const look = (url: string, terms: InspectTerms = {}): ReturnType<typeof inspectPostgres> =>
  inspectPostgres(url, { ...terms, named: "--to" }).catch((error: unknown) => {
    throw ofTarget(error, url);
  });

/** Throws unless the database is empty and unused, or has this move in it already. */
const assertTakes =
  (begun: Fence | null) =>
  async (client: ClientBase): Promise<void> => {
    if (begun !== null && (await arrivalOf(client, begun.id)) !== "unknown") return;
    await assertUnused(client);
    await assertEmpty(client);
  };

/** The database belongs to another program version: a start would need that version, a move another database. */
const NOT_EMPTY: ReadonlySet<string> = new Set<StoreFailureReason>(["newer_schema", "changed_migration"]);

/** The refusal of a start, as one of the database that `--to` names. */
function ofTarget(error: unknown, url: string): unknown {
  if (!(error instanceof StoreFailure)) return error;
  const { reason, why } = error;
  if (reason === "data_key")
    return new StoreFailure(
      reason,
      `the database ${placeOf(url)} belongs to another installation, with a data key of its own`,
      ANOTHER,
    );
  return NOT_EMPTY.has(reason) ? new StoreFailure(reason, why, ANOTHER) : error;
}

const ANOTHER = "name an empty database";

/** The move has begun, and neither store opens until it has ended. */
function interrupted(error: unknown, dataDirectory: string, url: string): unknown {
  if (error instanceof StoreFailure && error.reason === "moving") return error;
  return new StoreFailure(
    "moving",
    `the move to ${placeOf(url)} was interrupted (${error instanceof StoreFailure ? error.why : messageOf(error)}), and the store in ${dataDirectory} stays closed`,
    WAY_OUT,
  );
}

/** Without the database's answer nobody knows whether it is in use. */
const unanswered = (error: unknown, { place }: Fence): unknown =>
  error instanceof StoreFailure && error.reason === "database"
    ? new StoreFailure(
        error.reason,
        error.why,
        `${error.wayOut}; only that database can tell that it is not in use: if it is gone for good, create an empty one as ${place} and run this again`,
      )
    : error;

/** The fence of this store: the existing one, or a new one. */
function fenced(writer: Database, url: string): Fence & { fresh: boolean } {
  const standing = sourceFence(writer);
  if (standing !== null) {
    assertSamePlace(standing, url);
    return { ...standing, fresh: false };
  }
  const fence = { id: `mov_${randomBase62(16)}`, place: placeOf(url) };
  fenceSource(writer, fence);
  return { ...fence, fresh: true };
}

function assertSamePlace({ place }: Fence, url: string): void {
  if (place !== placeOf(url))
    throw new StoreFailure(
      "moving",
      `this store is being moved to ${place}, not to ${placeOf(url)}`,
      "finish or cancel that move first",
    );
}

/**
 * Opens the new store, closed to all others. If it refuses, the fence that this run set is lifted: nothing
 * has happened.
 */
async function openFenced(
  dataDirectory: string,
  url: string,
  { id, fresh, say }: Fence & { fresh: boolean; say: Say },
): Promise<{ target: PostgresStore; arrived: MoveArrival }> {
  let arrived: MoveArrival = "unknown";
  let marked = false;
  const from = { id, place: `${hostname()}:${dataDirectory}` };
  try {
    const mover: Mover = {
      id,
      check: assertTakes(from),
      begin: async (client) => {
        arrived = await arrivalOf(client, id);
        if (arrived !== "unknown") return;
        await assertTakes(null)(client);
        await fenceTarget(client, from);
        marked = true;
      },
    };
    const target = await openPostgresStore(url, dataDirectory, { mover, say });
    crashPoint("move_marked");
    return { target, arrived };
  } catch (error) {
    const refusal = ofTarget(error, url);
    if (!fresh) throw refusal;
    // If the response to a commit was lost, it may have been committed.
    if (marked && !(await isAbsent(url, id))) throw interrupted(refusal, dataDirectory, url);
    onFile(dataDirectory, liftSource);
    throw refusal;
  }
}

async function isAbsent(url: string, id: string): Promise<boolean> {
  const arrival = await lookAt(url, id).catch(() => null);
  return arrival === "unknown" || arrival === "taken";
}

/** Copies, compares and verifies; the new store opens at the very end. */
async function arrive(
  source: SqliteStore,
  target: PostgresStore,
  id: string,
): Promise<Moved & { people: number }> {
  await resolveRunning(source);
  const jobs = jobsOnStderr();
  await carryBeforeMove(source.dataDirectory, {
    sql: sqliteSql(source),
    nowMs: () => systemClock.nowMs(),
    failed: (error) => jobs.failed("audit_outbox", error),
  });
  crashPoint("move_resolved");
  const moved = await copyOn(target, source);
  crashPoint("move_copied");
  const people = await copyPeople(source.dataDirectory, target.url);
  crashPoint("move_people");
  await analyzed(target, Object.keys(moved.rows));
  await assertSound(target);
  crashPoint("move_checked");
  const client = await target.pool.connect();
  try {
    await openTarget(client, id);
  } finally {
    client.release(true);
  }
  crashPoint("move_opened");
  return { ...moved, people };
}

/** The ledger's file comes last: as long as it is there, the same command can continue. */
function setAside(dataDirectory: string): string {
  setPeopleAside(dataDirectory);
  crashPoint("move_people_aside");
  const keptAs = movedPath(dataDirectory);
  const file = keptAs.replace(/\.moved$/, "");
  if (existsSync(file)) renameSync(file, keptAs);
  return keptAs;
}

/** Returns false if nothing of the move has reached the database. */
async function closeTarget(url: string, id: string): Promise<boolean> {
  const arrival = await withClient(url, async (client) =>
    (await abandonTarget(client, id)) ? "abandoned" : await arrivalOf(client, id),
  );
  if (arrival === "moved")
    throw new StoreFailure(
      "moving",
      "this move is complete and its database may be in use, so it cannot be cancelled",
      "run ./tollgate db move --to … again to finish it",
    );
  return arrival === "abandoned";
}

const lookAt = (url: string, id: string): Promise<MoveArrival> =>
  withClient(url, (client) => arrivalOf(client, id));

async function withClient<T>(url: string, work: (client: import("pg").Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: checkingServer(url), connectionTimeoutMillis: 5_000 });
  client.on("error", () => {}); // the caller waiting for a statement receives the error
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function copyOn(target: PostgresStore, source: SqliteStore): Promise<Moved> {
  const nowMs = systemClock.nowMs();
  const [[oldest] = []] = source.writer.query("SELECT min(hour) FROM usage_hour").values() as [
    bigint | null,
  ][];
  await makeMonths(target.pool, nowMs, oldest ? Math.min(nowMs, Number(oldest) * HOUR_MS) : nowMs);
  const client = await target.pool.connect();
  try {
    await client.query("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0");
    return await copyStore(source.writer, client);
  } finally {
    client.release(true);
  }
}

/**
 * Lets the database analyze the moved tables: otherwise its query plans are poor until it does so by itself, minutes
 * later. The move is complete without it.
 */
async function analyzed({ url }: PostgresStore, tables: readonly string[]): Promise<void> {
  try {
    const client = await connectLong(url, "move");
    try {
      const { rows } = await client.query<{ names: string | null }>(
        `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS names FROM pg_tables
         WHERE schemaname = $1 OR (schemaname = current_schema() AND tablename = ANY($2::text[]))`,
        [PEOPLE_SCHEMA, tables],
      );
      await client.query(`ANALYZE (SKIP_LOCKED) ${rows[0]?.names}`);
    } finally {
      await client.end();
    }
  } catch (error) {
    const said = `the database could not analyze the moved tables, and does so by itself in a while (${messageOf(error)})`;
    jobsOnStderr().failed("analyze", new Error(said));
  }
}

async function assertSound({ url, dataKey }: PostgresStore): Promise<void> {
  const { ok, violations } = await verifyPostgres({ url, dataKey, nowMs: systemClock.nowMs() });
  const [first] = violations;
  if (!ok)
    throw new StoreFailure(
      "moving",
      `the copy does not pass the audit (${first?.invariant}, ${first?.organizationId})`,
      "cancel the move with ./tollgate db move --to … --abandon, and run ./tollgate ledger audit on the old store",
    );
}
