// Which store this gateway keeps its ledger in: the data directory's SQLite, or the PostgreSQL that DATABASE_URL names and
// any number of gateways share.
import type { Config } from "../config.ts";
import type { ElsewherePorts } from "../gateway/elsewhere.ts";
import { printCutStream } from "../gateway/cut-stream.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import type { Sql } from "../store/sql.ts";

export interface OpenedStore {
  ledger: Ledger;
  /** Seals stored answers; keys the digests of identifiers, and signs receipts. */
  dataKey: Uint8Array;
  /** For what is away from the money path: payments, alerts, the dashboard. */
  sql: Sql;
  /** What other gateways of the same store run; null when this is the only one. */
  look: ElsewherePorts["look"] | null;
  /** After the ledger has closed. */
  close(): Promise<void>;
}

/** `clock` is for tests: a shared store is stamped by its database, whose clock all gateways agree on. */
export const openStore = (config: Config, clock: Clock | undefined): Promise<OpenedStore> =>
  config.databaseUrl === null
    ? openSqlite(config, clock ?? systemClock)
    : openPostgres(config, config.databaseUrl, clock);

async function openSqlite({ dataDir, idempotency }: Config, clock: Clock): Promise<OpenedStore> {
  const [{ openSqliteStore }, { openSqliteLedger }, { sqliteSql }] = await Promise.all([
    import("../store/sqlite.ts"),
    import("../ledger/sqlite.ts"),
    import("../store/sqlite-sql.ts"),
  ]);
  const store = openSqliteStore(dataDir);
  const ledger = await openSqliteLedger({ store, clock, idempotency, printCut: printCutStream });
  const { dataKey } = store;
  return { ledger, dataKey, sql: sqliteSql(store), look: null, close: async () => store.close() };
}

async function openPostgres(
  { dataDir, idempotency }: Config,
  url: string,
  clock: Clock | undefined,
): Promise<OpenedStore> {
  const [{ openPostgresStore }, { openPostgresLedger }, { lookAt }, { postgresSql }] = await Promise.all([
    import("../store/postgres.ts"),
    import("../ledger/postgres.ts"),
    import("../ledger/postgres-progress.ts"),
    import("../store/postgres-sql.ts"),
  ]);
  const store = await openPostgresStore(url, dataDir);
  try {
    const ledger = await openPostgresLedger({
      store,
      idempotency,
      printCut: printCutStream,
      ...(clock !== undefined && { clock }),
    });
    const { dataKey, pool } = store;
    return {
      ledger,
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
