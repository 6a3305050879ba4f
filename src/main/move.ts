// `db move`: the embedded store into PostgreSQL, while no gateway runs on it. What was running is resolved first, the copy
// is compared and audited, and the old file steps aside, so that no gateway ever goes on with it by accident.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { printCutStream } from "../gateway/cut-stream.ts";
import { auditPostgres } from "../ledger/postgres-audit.ts";
import { makeMonths } from "../ledger/postgres-months.ts";
import { openSqliteLedger } from "../ledger/sqlite.ts";
import { systemClock } from "../lib/clock.ts";
import { copyPeople, setPeopleAside } from "../people/move.ts";
import { copyStore, type Moved } from "../store/move.ts";
import { openPostgresStore, type PostgresStore } from "../store/postgres.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite.ts";
import { StoreFailure } from "../store/store-failure.ts";

export interface MoveResult extends Moved {
  /** Rows of accounts, sessions and memberships. */
  people: number;
  /** Where the old store is kept. */
  keptAs: string;
}

const DAY_MS = 86_400_000;

/** Throws `StoreFailure` with what to do; the old store stays in place then. */
export async function moveToPostgres(dataDirectory: string, url: string): Promise<MoveResult> {
  const source = openSqliteStore(dataDirectory);
  let closed = false;
  try {
    await resolveRunning(source);
    const target = await openPostgresStore(url, dataDirectory);
    const moved = await copyInto(target, source);
    await assertSound(target);
    const people = await copyPeople(dataDirectory, url);
    source.writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
    source.close();
    closed = true;
    const keptAs = join(dataDirectory, "tollgate.sqlite.moved");
    renameSync(join(dataDirectory, "tollgate.sqlite"), keptAs);
    setPeopleAside(dataDirectory);
    return { ...moved, people, keptAs };
  } finally {
    if (!closed) source.close();
  }
}

/** As a start does: no request of an earlier process stays open. */
async function resolveRunning(store: SqliteStore): Promise<void> {
  const ledger = await openSqliteLedger({
    store,
    clock: systemClock,
    // Counted from the end of what is resolved now.
    idempotency: { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS },
    printCut: printCutStream,
  });
  await ledger.close();
}

async function copyInto(target: PostgresStore, source: SqliteStore): Promise<Moved> {
  try {
    return await copyOn(target, source);
  } finally {
    await target.close();
  }
}

async function copyOn(target: PostgresStore, source: SqliteStore): Promise<Moved> {
  const nowMs = systemClock.nowMs();
  const [[oldest] = []] = source.writer.query("SELECT min(hour) FROM usage_hour").values() as [
    bigint | null,
  ][];
  await makeMonths(target.pool, nowMs, oldest ? Math.min(nowMs, Number(oldest) * 3_600_000) : nowMs);
  const client = await target.pool.connect();
  try {
    await client.query("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0");
    return await copyStore(source.writer, client);
  } finally {
    client.release(true);
  }
}

async function assertSound({ url, dataKey }: PostgresStore): Promise<void> {
  const { ok, violations } = await auditPostgres({ url, dataKey, nowMs: systemClock.nowMs() });
  const [first] = violations;
  if (!ok)
    throw new StoreFailure(
      "database",
      `the copy does not pass the audit (${first?.invariant}, ${first?.organizationId}); the old store is untouched: run ./tollgate ledger audit on it`,
    );
}
