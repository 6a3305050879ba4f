// Opens the PostgreSQL store that any number of gateways share: migrated once, its data key checked, a number of its own
// for this process. Sessions carry the time limits of money.md §7; all of them are off by default.
import pg from "pg";
import { dataKeyCheck, dataKeyRefusal, opensWith, readDataKey, takeNextDataKey } from "./data-key.ts";
import { confirmCommits } from "./postgres-confirmed.ts";
import { assertTakesEveryText } from "./postgres-encoding.ts";
import { openingFailure } from "./postgres-error.ts";
import { MIGRATIONS } from "./migrations/list.ts";
import { migrateThen } from "./postgres-migrate.ts";
import {
  assertOwnSessions,
  keepingSettings,
  keepSettings,
  type SessionSettings,
} from "./postgres-session.ts";
import { postgresSql } from "./postgres-sql.ts";
import { privateDirectory } from "./private-file.ts";
import type { ReadingApart } from "./sql.ts";
import { StoreFailure } from "./store-failure.ts";

export interface PostgresStore {
  /** With its password: never printed. */
  readonly url: string;
  readonly dataDirectory: string;
  readonly dataKey: Uint8Array;
  /** For single statements, and for the operator's short transactions. */
  readonly pool: pg.Pool;
  /** A connection of one's own whose statements may be sent before the former ones are answered. */
  connect(name: string): Promise<pg.Client>;
  /** A number that no other process has or will have. */
  nextEpoch(): Promise<number>;
  close(): Promise<void>;
}

const POOL_CONNECTIONS = 6;
const PAGES_CONNECTIONS = 4;
const CONNECT_WITHIN_MS = 5_000;
/** Longer than the server's own limit, so that it is the server that gives up wherever it still can. */
const ANSWER_WITHIN_MS = 7_000;
/** A batch that takes this long is one that people wait for: it is given up, and looked up if it was committing. */
const BATCH_ANSWER_WITHIN_MS = 4_000;
const SESSION = {
  statement_timeout: "5s",
  lock_timeout: "2s",
  idle_in_transaction_session_timeout: "1s",
  client_connection_check_interval: "1s",
  tcp_user_timeout: "10s",
};

/**
 * Of batches: each statement is planned once per connection, and always by its keys, however small or stale the tables'
 * statistics are. Planning anew costs more than running.
 */
const BATCH_SESSION = {
  ...SESSION,
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
};

/** int8 is money or a time in milliseconds: never a float on the way. */
const INT8 = pg.types.builtins.INT8;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: "text" | "binary") =>
    id === INT8 && format !== "binary"
      ? BigInt
      : pg.types.getTypeParser(id, format as "text")) as pg.CustomTypesConfig["getTypeParser"],
};

const connectionOf = (url: string, name: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: `tollgate ${name}`,
  connectionTimeoutMillis: CONNECT_WITHIN_MS,
  query_timeout: ANSWER_WITHIN_MS,
  keepAlive: true,
  types,
});

/** A move that passes its own fence. */
export interface Mover {
  id: string;
  /** In the transaction that migrates: before anybody else can look. */
  begin(client: pg.ClientBase): Promise<void>;
}

/** Throws `StoreFailure` when the database cannot be reached, may not be written, or is not one of this program. */
export async function openPostgresStore(
  url: string,
  dataDirectory: string,
  mover: Mover | null = null,
): Promise<PostgresStore> {
  try {
    privateDirectory(dataDirectory);
    const dataKey = await prepare(url, dataDirectory, mover);
    const pool = poolOf(url, "pool", POOL_CONNECTIONS);
    return {
      url,
      dataDirectory,
      dataKey,
      pool,
      connect: (name) =>
        connected(
          { ...connectionOf(url, name), pipeline: true, query_timeout: BATCH_ANSWER_WITHIN_MS },
          BATCH_SESSION,
        ),
      nextEpoch: () => nextEpoch(pool),
      close: () => pool.end(),
    };
  } catch (error) {
    throw openingFailure(error, url);
  }
}

function poolOf(url: string, name: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionOf(url, name), max, onConnect: keepingSettings(SESSION) });
  // A connection that the server ended while it was idle: the pool makes another when one is needed.
  pool.on("error", () => {});
  // One that is lost while it is in use: its statements fail, which is all that anybody needs to know.
  pool.on("connect", (client) => {
    client.on("error", () => {});
    confirmCommits(client);
  });
  return pool;
}

/** For people's pages: whatever they read, changes and requests find their own connections free. Opened as they are needed. */
export function postgresReading(url: string): ReadingApart {
  const pool = poolOf(url, "pages", PAGES_CONNECTIONS);
  return { ...postgresSql(pool), stop: () => pool.end() };
}

/** No statement of a verification takes as long; one that does has lost its database without a word. */
const READ_WITHIN_MS = 30 * 60_000;
/** Of a database or a role that has short limits of its own. */
const READING = {
  statement_timeout: String(READ_WITHIN_MS),
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
};

/** A connection for one long read, without the limits of requests; the caller begins a read-only transaction, and ends it. */
export const connectReader = (url: string): Promise<pg.Client> => connectLong(url, "audit");

/** The same for one long transaction that writes. */
export const connectLong = (url: string, name: string): Promise<pg.Client> =>
  connected({ ...connectionOf(url, name), query_timeout: READ_WITHIN_MS }, READING);

/** For a first look at what a database is behind; the caller ends it. */
export const connectBare = (url: string, name: string): Promise<pg.Client> =>
  connected(connectionOf(url, name), null);

/** `settings` null: nothing is set on it, for it may be lent to others next. */
async function connected(config: pg.ClientConfig, settings: SessionSettings | null): Promise<pg.Client> {
  const client = new pg.Client(config);
  // Without a listener a lost connection would end the process; whoever uses it sees its statements fail.
  client.on("error", () => {});
  confirmCommits(client);
  await client.connect();
  if (settings === null) return client;
  try {
    await keepSettings(client, settings);
    return client;
  } catch (error) {
    await client.end().catch(() => {}); // gone already, most likely
    throw error;
  }
}

/** A connection of a start, proven to keep what is set on it before anything is. Its migrations take what time they need. */
async function startingSession(url: string): Promise<pg.Client> {
  const client = await connected({ ...connectionOf(url, "start"), query_timeout: 0 }, null);
  try {
    const other = await connectBare(url, "start");
    try {
      await assertOwnSessions(client, other);
      await assertTakesEveryText(client);
    } finally {
      await other.end().catch(() => {}); // gone already, most likely
    }
    await keepSettings(client, SESSION);
    return client;
  } catch (error) {
    await client.end().catch(() => {}); // gone already, most likely
    throw error;
  }
}

/** Schema, data key: by one starting gateway at a time. */
async function prepare(url: string, dataDirectory: string, mover: Mover | null): Promise<Uint8Array> {
  const client = await startingSession(url);
  try {
    const work = async (): Promise<Uint8Array> => {
      const dataKey = await sharedDataKey(client, dataDirectory);
      await mover?.begin(client);
      return dataKey;
    };
    return await migrateThen(client, work, MIGRATIONS.postgresql, mover?.id ?? null);
  } finally {
    await client.end();
  }
}

/** What the database remembers of its key; undefined while it has none. */
async function keyCheckIn(client: pg.ClientBase): Promise<{ data_key_check: Buffer } | undefined> {
  const { rows } = await client.query<{ data_key_check: Buffer }>("SELECT data_key_check FROM store_state");
  return rows[0];
}

/** Throws what a start would be told of the key in this directory; `client` null: in a database without tables of ours. Changes nothing. */
export async function assertDataKey(client: pg.ClientBase | null, dataDirectory: string): Promise<void> {
  const known = client === null ? undefined : await keyCheckIn(client);
  const refusal = dataKeyRefusal(dataDirectory, known === undefined ? "fresh" : "existing");
  if (refusal !== null) throw ofThisDatabase(refusal, dataDirectory);
  if (known !== undefined && !opensWith(dataDirectory, known.data_key_check))
    throw foreignDataKey(dataDirectory);
}

async function sharedDataKey(client: pg.Client, dataDirectory: string): Promise<Uint8Array> {
  const known = await keyCheckIn(client);
  const dataKey = readKey(dataDirectory, known === undefined ? "fresh" : "existing");
  const check = Buffer.from(dataKeyCheck(dataKey));
  if (known === undefined) {
    await client.query("INSERT INTO store_state (id, epoch, data_key_check) VALUES (1, 0, $1)", [check]);
    return dataKey;
  }
  if (known.data_key_check.equals(check)) return dataKey;
  const next = takeNextDataKey(dataDirectory, known.data_key_check);
  if (next === null) throw foreignDataKey(dataDirectory);
  return next;
}

function readKey(dataDirectory: string, database: "fresh" | "existing"): Uint8Array {
  try {
    return readDataKey(dataDirectory, database);
  } catch (error) {
    throw ofThisDatabase(error, dataDirectory);
  }
}

const ofThisDatabase = (error: unknown, dataDirectory: string): unknown =>
  error instanceof StoreFailure && error.reason === "data_key" ? foreignDataKey(dataDirectory) : error;

/** The directory's `data.key` does not open what this database keeps. */
export const foreignDataKey = (dataDirectory: string): StoreFailure =>
  new StoreFailure(
    "data_key",
    `${dataDirectory}/data.key is not the data key of this database; copy the file from another gateway of it, or from its backup`,
  );

async function nextEpoch(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ epoch: bigint }>(
    "UPDATE store_state SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch",
  );
  const [state] = rows;
  if (state === undefined) throw new Error("the database lost its state row");
  return Number(state.epoch);
}
