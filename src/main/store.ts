// Which store this gateway keeps its ledger in: the data directory's SQLite, or the PostgreSQL that DATABASE_URL names and
// any number of gateways share.
import type { Config } from "../config.ts";
import { printCutStream } from "../gateway/cut-stream.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";

export interface OpenedStore {
  ledger: Ledger;
  /** Seals stored answers; keys the digests of identifiers, and signs receipts. */
  dataKey: Uint8Array;
  /** Whether other gateways change the same store. */
  shared: boolean;
  /** After the ledger has closed. */
  close(): Promise<void>;
}

/** `clock` is for tests: a shared store is stamped by its database, whose clock all gateways agree on. */
export const openStore = (config: Config, clock: Clock | undefined): Promise<OpenedStore> =>
  config.databaseUrl === null
    ? openSqlite(config, clock ?? systemClock)
    : openPostgres(config, config.databaseUrl, clock);

async function openSqlite({ dataDir, idempotency }: Config, clock: Clock): Promise<OpenedStore> {
  const [{ openSqliteStore }, { openSqliteLedger }] = await Promise.all([
    import("../store/sqlite.ts"),
    import("../ledger/sqlite.ts"),
  ]);
  const store = openSqliteStore(dataDir);
  const ledger = await openSqliteLedger({ store, clock, idempotency, printCut: printCutStream });
  return { ledger, dataKey: store.dataKey, shared: false, close: async () => store.close() };
}

async function openPostgres(
  { dataDir, idempotency }: Config,
  url: string,
  clock: Clock | undefined,
): Promise<OpenedStore> {
  const [{ openPostgresStore }, { openPostgresLedger }] = await Promise.all([
    import("../store/postgres.ts"),
    import("../ledger/postgres.ts"),
  ]);
  const store = await openPostgresStore(url, dataDir);
  try {
    const ledger = await openPostgresLedger({
      store,
      idempotency,
      printCut: printCutStream,
      ...(clock !== undefined && { clock }),
    });
    return { ledger, dataKey: store.dataKey, shared: true, close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}
