// Chooses this gateway's store: the data directory's SQLite, or the PostgreSQL that DATABASE_URL names, which
// any number of gateways share.
import type { Config } from "../config/config.ts";
import type { RemoteInFlightPorts } from "../gateway/remote-in-flight.ts";
import type { Format } from "../gateway/formats/format.ts";
import { interruptedStreams } from "../gateway/interrupted-stream.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import { aloud, type Say, SILENT } from "../lib/aloud.ts";
import type { Jobs } from "../lib/jobs.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import type { ReadingApart, Sql } from "../store/sql.ts";

export interface OpenedStore {
  ledger: Ledger;
  /** The time for all gateways of this store: a shared store has its own clock, whatever theirs say. */
  clock: Clock;
  /** Seals stored answers, keys the digests of identifiers, and signs receipts. */
  dataKey: Uint8Array;
  /** For everything off the money path: payments, alerts, the dashboard. */
  sql: Sql;
  /** Opens readers for people, which delay neither requests nor changes; the caller stops them. */
  reading(): ReadingApart;
  /** What other gateways of the same store run; null if this is the only one. */
  look: RemoteInFlightPorts["look"] | null;
  /** Must be called after the ledger has closed. */
  close(): Promise<void>;
}

interface OpenOn {
  /**
   * For tests and `seed`: a shared store takes its stamps from the database, whose clock all gateways share.
   */
  clock: Clock | undefined;
  jobs: Jobs;
  formats: readonly Format[];
  /** The pause between two runs of the ledger's upkeep, if not the default. */
  sweepEveryMs?: number;
  /** The pause between two checks of the books, if not the default. */
  booksEveryMs?: number;
  /** Called when the database has another data key: this process must end. */
  keyChanged?: ((error: Error) => void) | undefined;
  /** Receives what the opening waits for, or does again; default: nobody. */
  say?: Say;
}

/** Opens the store, migrated, and locked to this process or leased. Throws `StoreFailure` with what to do. */
export const openStore = (config: Config, on: OpenOn): Promise<OpenedStore> =>
  config.databaseUrl === null
    ? openSqlite(config, { ...on, clock: on.clock ?? systemClock })
    : openPostgres(config, config.databaseUrl, on);

async function openSqlite(
  { dataDir, idempotency, limits }: Config,
  { clock, jobs, formats, ...upkeep }: OpenOn & { clock: Clock },
): Promise<OpenedStore> {
  const [{ openSqliteStore }, { openSqliteLedger }, { sqliteSql }, { readingApart }] = await Promise.all([
    import("../store/sqlite.ts"),
    import("../ledger/sqlite/ledger.ts"),
    import("../store/sqlite-sql.ts"),
    import("../store/sqlite-reading.ts"),
  ]);
  const store = openSqliteStore(dataDir);
  const ledger = await openSqliteLedger({
    store,
    clock,
    jobs,
    idempotency,
    rateDefaults: rateDefaultsOf(limits),
    printInterrupted: interruptedStreams(formats),
    ...upkeep,
  });
  const { dataKey } = store;
  const sql = sqliteSql(store);
  return {
    ledger,
    clock,
    dataKey,
    sql,
    reading: () => readingApart(sql, dataDir),
    look: null,
    close: async () => store.close(),
  };
}

async function openPostgres(
  { dataDir, idempotency, limits }: Config,
  url: string,
  { clock, jobs, formats, keyChanged, say = SILENT, ...upkeep }: OpenOn,
): Promise<OpenedStore> {
  const [
    { openPostgresStore, postgresReading },
    { openPostgresLedger },
    { DatabaseClock },
    { lookAt },
    { postgresSql },
  ] = await Promise.all([
    import("../store/postgres.ts"),
    import("../ledger/postgres/ledger.ts"),
    import("../ledger/database-clock.ts"),
    import("../ledger/postgres/progress.ts"),
    import("../store/postgres-sql.ts"),
  ]);
  const store = await openPostgresStore(url, dataDir, { say });
  try {
    const databaseClock = new DatabaseClock();
    const opening = () =>
      openPostgresLedger({
        store,
        databaseClock,
        idempotency,
        rateDefaults: rateDefaultsOf(limits),
        printInterrupted: interruptedStreams(formats),
        jobs,
        ...(clock !== undefined && { clock }),
        ...(keyChanged !== undefined && { keyChanged }),
        ...upkeep,
      });
    const ledger = await aloud(
      say,
      () => "the ledger: what earlier processes left is settled first",
      opening,
    );
    const { dataKey, pool } = store;
    return {
      ledger,
      clock: clock ?? databaseClock,
      dataKey,
      sql: postgresSql(pool),
      reading: () => postgresReading(url),
      look: (place, from) => lookAt(store, place, from),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw lostWhileStarting(error, url);
  }
}
