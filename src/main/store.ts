// Which store this gateway keeps its ledger in: the data directory's SQLite, or the PostgreSQL that DATABASE_URL names and
// any number of gateways share.
import type { Config } from "../config/config.ts";
import type { RemoteInFlightPorts } from "../gateway/remote-in-flight.ts";
import type { Format } from "../gateway/formats/format.ts";
import { interruptedStreams } from "../gateway/interrupted-stream.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import type { Jobs } from "../lib/jobs.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import type { Sql } from "../store/sql.ts";

export interface OpenedStore {
  ledger: Ledger;
  /** What time it is for all gateways of this store: a shared one has one clock, its own, whatever theirs say. */
  clock: Clock;
  /** Seals stored answers; keys the digests of identifiers, and signs receipts. */
  dataKey: Uint8Array;
  /** For what is away from the money path: payments, alerts, the dashboard. */
  sql: Sql;
  /** What other gateways of the same store run; null when this is the only one. */
  look: RemoteInFlightPorts["look"] | null;
  /** After the ledger has closed. */
  close(): Promise<void>;
}

interface OpenOn {
  /** For tests and `seed`: a shared store is stamped by its database, whose clock all gateways agree on. */
  clock: Clock | undefined;
  jobs: Jobs;
  formats: readonly Format[];
  /** Between two runs of the ledger's upkeep, where that is not its usual. */
  sweepEveryMs?: number;
  /** Between two looks at the books, where that is not its usual. */
  booksEveryMs?: number;
  /** The database has another data key by now: this process is to end. */
  keyChanged?: ((error: Error) => void) | undefined;
}

/** Migrated, and locked to this process or leased. Throws `StoreFailure` with what to do. */
export const openStore = (config: Config, on: OpenOn): Promise<OpenedStore> =>
  config.databaseUrl === null
    ? openSqlite(config, { ...on, clock: on.clock ?? systemClock })
    : openPostgres(config, config.databaseUrl, on);

async function openSqlite(
  { dataDir, idempotency, limits }: Config,
  { clock, jobs, formats, ...upkeep }: OpenOn & { clock: Clock },
): Promise<OpenedStore> {
  const [{ openSqliteStore }, { openSqliteLedger }, { sqliteSql }] = await Promise.all([
    import("../store/sqlite.ts"),
    import("../ledger/sqlite/ledger.ts"),
    import("../store/sqlite-sql.ts"),
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
  return { ledger, clock, dataKey, sql: sqliteSql(store), look: null, close: async () => store.close() };
}

async function openPostgres(
  { dataDir, idempotency, limits }: Config,
  url: string,
  { clock, jobs, formats, keyChanged, ...upkeep }: OpenOn,
): Promise<OpenedStore> {
  const [{ openPostgresStore }, { openPostgresLedger }, { DatabaseClock }, { lookAt }, { postgresSql }] =
    await Promise.all([
      import("../store/postgres.ts"),
      import("../ledger/postgres/ledger.ts"),
      import("../ledger/database-clock.ts"),
      import("../ledger/postgres/progress.ts"),
      import("../store/postgres-sql.ts"),
    ]);
  const store = await openPostgresStore(url, dataDir);
  try {
    const databaseClock = new DatabaseClock();
    const ledger = await openPostgresLedger({
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
    const { dataKey, pool } = store;
    return {
      ledger,
      clock: clock ?? databaseClock,
      dataKey,
      sql: postgresSql(pool),
      look: (place, from) => lookAt(store, place, from),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw lostWhileStarting(error, url);
  }
}
