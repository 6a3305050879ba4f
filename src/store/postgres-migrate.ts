// Migrations of the PostgreSQL store, with checksums: each runs once, in order. An advisory lock makes
// gateways that start together take turns; a database that is newer than the program, or edited since,
// is refused (libraries.md §5). An empty database gets all of them in one transaction; one in use gets
// each in its own, so that no table is blocked while the others run.
import type { ClientBase } from "pg";
import { aloud, type Say, SILENT } from "../lib/aloud.ts";
import { checksumOf, type Migration, MIGRATIONS, unapplied } from "./migrations/list.ts";
import { withoutScan } from "./migrations/postgres/without-scan.ts";
import { passFence } from "./move-fence.ts";

/** An arbitrary number of our own: the advisory lock that makes migrating gateways take turns. */
const MIGRATING = 8_041_990_771;

const GIVE_UP_AFTER_MS = 60_000;
const MIGRATED_WITHIN_MS = 600_000;

/** In place of the connection's limit, for statements that may take longer; the server gives up first whenever it can. */
interface AnswerLimit {
  query_timeout: number;
}
const LOCKED_WITHIN: AnswerLimit = { query_timeout: GIVE_UP_AFTER_MS + 2_000 };
const MIGRATED_WITHIN: AnswerLimit = { query_timeout: MIGRATED_WITHIN_MS + 2_000 };
const ROLLED_BACK_WITHIN: AnswerLimit = { query_timeout: 1_000 };
/**
 * For a table with a long reader such as a dump or a verification: a migration that waits for it
 * makes all requests wait behind it, so it waits for half a second and tries again.
 */
const TABLE_WITHIN_MS = 500;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = "55P03";

/** The result of a transaction: a migration is left for the next one, or the work is done. */
type Step<T> = { left: true } | { left: false; result: T };

export interface PostgresMigrateTerms {
  migrations?: readonly Migration[];
  /** The id of a move that passes its own fence. */
  mover?: string | null;
  /** Throws if what is in the database is not for this process; runs before a migration changes any of it. */
  check?: () => Promise<void>;
  /** Receives what it waits for, if that lasts; default: nobody. */
  say?: Say;
  /** Who has the turn to migrate, asked on another connection; null if that is not known. */
  whoseTurn?: () => Promise<string | null>;
}

/**
 * Runs `work` in one transaction once the database is at the newest schema, while no other gateway migrates it. Older
 * gateways keep serving meanwhile and afterwards: a migration may add what they do not know, and take nothing away.
 */
export async function migrateThen<T>(
  client: ClientBase,
  work: () => Promise<T>,
  {
    migrations = MIGRATIONS.postgresql,
    mover = null,
    check = async () => {},
    say = SILENT,
    whoseTurn = async () => null,
  }: PostgresMigrateTerms = {},
): Promise<T> {
  const terms = { migrations, mover, check, say, whoseTurn };
  const lateAtMs = performance.now() + GIVE_UP_AFTER_MS;
  const inUse = "a table of the database that a long transaction uses";
  for (;;) {
    let tried = await attempt(client, work, { terms, lateAtMs });
    if (tried.kind === "taken")
      tried = await aloud(
        say,
        () => inUse,
        () => untilFree(client, work, { terms, lateAtMs }),
      );
    if (tried.kind === "done") return tried.result;
  }
}

/** `taken`: a table is in use; `left`: more migrations remain. */
type Tried<T> = { kind: "done"; result: T } | { kind: "left" } | { kind: "taken" };

interface Trying {
  terms: Required<PostgresMigrateTerms>;
  lateAtMs: number;
}

async function attempt<T>(
  client: ClientBase,
  work: () => Promise<T>,
  { terms, lateAtMs }: Trying,
): Promise<Tried<T>> {
  try {
    const step = await once(client, work, terms);
    return step.left ? { kind: "left" } : { kind: "done", result: step.result };
  } catch (error) {
    const taken = error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE;
    if (!taken || performance.now() > lateAtMs) throw error;
    return { kind: "taken" };
  }
}

/** Tries again until the table is free. */
async function untilFree<T>(
  client: ClientBase,
  work: () => Promise<T>,
  trying: Trying,
): Promise<Exclude<Tried<T>, { kind: "taken" }>> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    const tried = await attempt(client, work, trying);
    if (tried.kind !== "taken") return tried;
  }
}

async function once<T>(
  client: ClientBase,
  work: () => Promise<T>,
  terms: Required<PostgresMigrateTerms>,
): Promise<Step<T>> {
  await client.query("BEGIN");
  try {
    // A starting gateway may wait for another's migration, longer than any request may wait for a lock.
    await client.query(
      `SET LOCAL lock_timeout = ${GIVE_UP_AFTER_MS}; SET LOCAL statement_timeout = ${MIGRATED_WITHIN_MS}`,
    );
    await takeTurn(client, terms);
    await client.query(`SET LOCAL lock_timeout = ${TABLE_WITHIN_MS}`);
    const { left, changed } = await migrate(client, terms);
    const step: Step<T> = left ? { left } : { left, result: await work() };
    await client.query({ ...(changed && LOCKED_WITHIN), text: "COMMIT" }); // of whole tables, on a slow disk
    return step;
  } catch (error) {
    await client.query({ ...ROLLED_BACK_WITHIN, text: "ROLLBACK" }).catch(() => {}); // gone with its connection
    throw error;
  }
}

/** Until the end of the transaction, gateways that start wait before they look at anything. */
export const keepStartsOut = (client: ClientBase): Promise<unknown> => client.query(TURN);

const TURN = `SELECT pg_advisory_xact_lock(${MIGRATING})`;

/**
 * Waits only while another gateway has its turn; otherwise a database that does not answer is noticed within seconds.
 */
async function takeTurn(
  client: ClientBase,
  { say, whoseTurn }: Pick<Required<PostgresMigrateTerms>, "say" | "whoseTurn">,
): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${MIGRATING}) AS taken`,
  );
  if (rows[0]?.taken === true) return;
  const waitsFor = async (): Promise<string> =>
    `another gateway's migration of the database: ${(await whoseTurn()) ?? "whose is not known"}`;
  await aloud(say, waitsFor, () => client.query({ ...LOCKED_WITHIN, text: TURN }));
}

const HOLDER = `
  SELECT a.pid, a.application_name AS program, coalesce(host(a.client_addr), 'the same machine') AS address, a.usename AS role,
    round(extract(epoch FROM clock_timestamp() - a.xact_start)) AS seconds
  FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.classid::bigint << 32) + l.objid::bigint = ${MIGRATING}`;

/** Returns who migrates the database now, in words; null if nobody does, or if this user may not see it. */
export async function whoMigrates(client: ClientBase): Promise<string | null> {
  const { rows } =
    await client.query<Record<"program" | "address" | "role" | "seconds" | "pid", unknown>>(HOLDER);
  const [holder] = rows;
  if (holder === undefined) return null;
  const { pid, program, address, role, seconds } = holder;
  return `"${String(program)}" of ${String(role)} at ${String(address)}, process ${String(pid)} of the server, for ${String(seconds)} s`;
}

/** Applies all of them if there are none yet, otherwise the next one; `left`: more remain. */
async function migrate(
  client: ClientBase,
  { migrations, mover, check, say }: Required<PostgresMigrateTerms>,
): Promise<{ left: boolean; changed: boolean }> {
  const applied = await appliedOrNone(client);
  passFence(applied, mover);
  const missing = unapplied(migrations, applied);
  if (applied.size > 0 && missing.length > 0) await check();
  const next = applied.size === 0 ? missing : missing.slice(0, 1);
  for (const migration of next)
    await aloud(
      say,
      () => `migration ${migration.version} (${migration.name})`,
      () => apply(client, migration),
    );
  return { left: next.length < missing.length, changed: next.length > 0 };
}

/** Returns the migrations that it was made with, including the fence of a move; creates their table if it is missing. */
async function appliedOrNone(client: ClientBase): Promise<Map<number, { checksum: string; name: string }>> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migration (
       version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL
     )`,
  );
  const { rows } = await client.query<{ version: bigint; checksum: string; name: string }>(
    "SELECT version, checksum, name FROM schema_migration",
  );
  return new Map(rows.map((row) => [Number(row.version), row]));
}

/**
 * Throws what a start would report before its first migration: that it may not write here, that the store
 * is being moved, or that it is another program's. Call inside a transaction, which the caller rolls back.
 */
export async function assertMigrates(client: ClientBase, mover: string | null): Promise<void> {
  const applied = await appliedOrNone(client);
  passFence(applied, mover);
  unapplied(MIGRATIONS.postgresql, applied);
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  await client.query({ ...MIGRATED_WITHIN, text: withoutScan(migration.sql) });
  await client.query(
    `INSERT INTO schema_migration (version, name, checksum, applied_at)
     VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`,
    [migration.version, migration.name, checksumOf(migration)],
  );
}
