// Opens the PostgreSQL store, shared by any number of gateways: migrated once, its data key checked, an
// epoch for this process. Sessions have the time limits of money.md §7; all of them are off by default.
import pg from "pg";
import { checkingServer } from "./postgres-address.ts";
import { dataKeyCheck, dataKeyRefusal, opensWith, readDataKey, takeNextDataKey } from "./data-key.ts";
import { confirmCommits } from "./postgres-confirmed.ts";
import { assertTakesEveryText } from "./postgres-encoding.ts";
import { messageOf } from "../domain/error-message.ts";
import { type Say, SILENT } from "../lib/aloud.ts";
import { type DatabaseSetting, errorKind, openingFailure, wasCutIdle } from "./postgres-error.ts";
import { migrateThen, whoMigrates } from "./postgres-migrate.ts";
import { assertMayMake } from "./postgres-rights.ts";
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
  /** Includes the password: never print it. */
  readonly url: string;
  readonly dataDirectory: string;
  readonly dataKey: Uint8Array;
  /** For single statements, and for the operator's short transactions. */
  readonly pool: pg.Pool;
  /** Opens a separate connection in pipeline mode: statements may be sent before earlier ones are answered. */
  connect(name: string): Promise<pg.Client>;
  /** Returns a number that no other process has or will have. */
  nextEpoch(): Promise<number>;
  close(): Promise<void>;
}

const POOL_CONNECTIONS = 6;
const PAGES_CONNECTIONS = 4;
const CONNECT_WITHIN_MS = 5_000;
/** Longer than the server's own limit, so that the server gives up first whenever it can. */
const ANSWER_WITHIN_MS = 7_000;
/** Callers wait for a batch that takes this long: it is given up, and looked up if it was committing. */
const BATCH_ANSWER_WITHIN_MS = 4_000;
const SESSION = {
  statement_timeout: "5s",
  lock_timeout: "2s",
  idle_in_transaction_session_timeout: "1s",
  client_connection_check_interval: "1s",
  tcp_user_timeout: "10s",
};

/**
 * For batches: each statement is planned once per connection, and always by its keys, however small
 * or stale the tables' statistics are. Planning again costs more than running.
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
  connectionString: checkingServer(url),
  application_name: `tollgate ${name}`,
  connectionTimeoutMillis: CONNECT_WITHIN_MS,
  query_timeout: ANSWER_WITHIN_MS,
  keepAlive: true,
  types,
});

/** A move that passes its own fence. */
export interface Mover {
  id: string;
  /** Throws if the database cannot take the store, whatever its schema; runs before anything in it is changed. */
  check(client: pg.ClientBase): Promise<void>;
  /** Runs in the transaction that migrates, before anybody else can look. */
  begin(client: pg.ClientBase): Promise<void>;
}

const settingOf = (mover: Mover | null): DatabaseSetting => (mover === null ? "DATABASE_URL" : "--to");

/** Throws `StoreFailure` if the database cannot be reached, may not be written, or does not belong to this program. */
export async function openPostgresStore(
  url: string,
  dataDirectory: string,
  { mover = null, say = SILENT }: { mover?: Mover | null; say?: Say } = {},
): Promise<PostgresStore> {
  try {
    privateDirectory(dataDirectory);
    const dataKey = await prepare({ url, dataDirectory, mover, say });
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
    throw openingFailure(error, url, settingOf(mover));
  }
}

function poolOf(url: string, name: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionOf(url, name), max, onConnect: keepingSettings(SESSION) });
  // The server ended an idle connection: the pool opens another when one is needed.
  pool.on("error", () => {});
  // If a connection is lost while in use, its statements fail, which is all that callers need to know.
  pool.on("connect", (client) => {
    client.on("error", () => {});
    confirmCommits(client);
  });
  return pool;
}

/** For people's pages: their reads leave the connections of changes and requests free. Opened as needed. */
export function postgresReading(url: string): ReadingApart {
  const pool = poolOf(url, "pages", PAGES_CONNECTIONS);
  return { ...postgresSql(pool), abreast: PAGES_CONNECTIONS, stop: () => pool.end() };
}

/** No statement of a verification takes this long; one that does has lost its database silently. */
const READ_WITHIN_MS = 30 * 60_000;
/** Overrides short limits of the database or the role. */
const READING = {
  statement_timeout: String(READ_WITHIN_MS),
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
};

/** A connection for one long read, without the limits of requests; the caller begins a read-only transaction, and closes it. */
export const connectReader = (url: string): Promise<pg.Client> => connectLong(url, "audit");

/** Opens the same for one long transaction that writes. */
export const connectLong = (url: string, name: string): Promise<pg.Client> =>
  connected({ ...connectionOf(url, name), query_timeout: READ_WITHIN_MS }, READING);

/** For a first look at what is in front of a database; the caller closes it. */
export const connectBare = (url: string, name: string): Promise<pg.Client> =>
  connected(connectionOf(url, name), null);

/** Longer than a batch may take: a pipelining connection closes only after its last answer. */
const HANG_UP_WITHIN_MS = { pipeline: BATCH_ANSWER_WITHIN_MS + 1_000, other: 1_000 };

/** A server that no longer answers does not answer a goodbye either: its connection is closed without one. */
function hangsUp(client: pg.Client, withinMs: number): void {
  const { connection } = client as pg.Client & { connection: pg.Connection };
  const end = client.end.bind(client) as () => Promise<void>;
  client.end = (async () => {
    const cut = setTimeout(() => connection.stream.destroy(), withinMs);
    await end().finally(() => clearTimeout(cut));
  }) as pg.Client["end"];
}

/** `settings` null: nothing is set on the connection, because it may be lent to others next. */
async function connected(config: pg.ClientConfig, settings: SessionSettings | null): Promise<pg.Client> {
  const client = new pg.Client(config);
  hangsUp(client, config.pipeline === true ? HANG_UP_WITHIN_MS.pipeline : HANG_UP_WITHIN_MS.other);
  // Without a listener a lost connection would end the process; its user sees its statements fail.
  client.on("error", () => {});
  confirmCommits(client);
  await client.connect();
  if (settings === null) return client;
  try {
    await keepSettings(client, settings);
    return client;
  } catch (error) {
    await client.end().catch(() => {}); // most likely already gone
    throw error;
  }
}

/** Opens the connection of a start, proven to keep settings before any are made. */
async function startingSession(url: string, named: DatabaseSetting): Promise<pg.Client> {
  const client = await connectBare(url, "start");
  try {
    const other = await connectBare(url, "start");
    try {
      await assertOwnSessions(client, other, named);
      await assertTakesEveryText(client);
      await assertMayMake(client, named);
    } finally {
      await other.end().catch(() => {}); // most likely already gone
    }
    await keepSettings(client, SESSION);
    return client;
  } catch (error) {
    await client.end().catch(() => {}); // most likely already gone
    throw error;
  }
}

/** How often a start is retried if its session is lost, as when its machine stalls for longer than the server waits. */
const BEGINS = 5;

interface Preparing {
  url: string;
  dataDirectory: string;
  mover: Mover | null;
  say: Say;
}

/**
 * Prepares schema and data key, in one starting gateway at a time. A gateway that stalls in a transaction loses its
 * session, because it would keep all others waiting; what it had not committed is repeated, and what it had is found.
 * A database that no longer takes connections ends it at once.
 */
async function prepare(preparing: Preparing): Promise<Uint8Array> {
  const { url, mover, say } = preparing;
  for (let left = BEGINS - 1; ; left -= 1) {
    const client = await startingSession(url, settingOf(mover));
    let cut: unknown = null;
    client.on("error", (error) => void (cut ??= error));
    try {
      return await prepareOn(client, preparing);
    } catch (error) {
      const lost = wasCutIdle(error) ? error : (cut ?? error);
      if (errorKind(lost) !== "store" || lost instanceof StoreFailure) throw error;
      if (left === 0) throw lost;
      say(`the database ended the session of this start (${messageOf(lost)}); trying again`);
    } finally {
      await client.end().catch(() => {}); // most likely already gone
    }
  }
}

/** Who migrates the database now, in words; asked on a connection of its own, as the one that waits is busy. Null: not known. */
export async function whoseTurn(url: string): Promise<string | null> {
  const client = await connectBare(url, "start, looking");
  try {
    return await whoMigrates(client);
  } finally {
    await client.end().catch(() => {}); // only a look
  }
}

function prepareOn(client: pg.Client, { url, dataDirectory, mover, say }: Preparing): Promise<Uint8Array> {
  const work = async (): Promise<Uint8Array> => {
    const dataKey = await sharedDataKey(client, dataDirectory);
    await mover?.begin(client);
    return dataKey;
  };
  const check = async (): Promise<void> => {
    await assertDataKey(client, dataDirectory);
    await mover?.check(client);
  };
  return migrateThen(client, work, {
    mover: mover?.id ?? null,
    check,
    say,
    whoseTurn: () => whoseTurn(url),
  });
}

/** Returns the database's check of its key; undefined if it has none yet. */
async function keyCheckIn(client: pg.ClientBase): Promise<{ data_key_check: Buffer } | undefined> {
  const { rows } = await client.query<{ data_key_check: Buffer }>("SELECT data_key_check FROM store_state");
  return rows[0];
}

/** Throws what a start would report about this directory's key; `client` null: a database without our tables. Changes nothing. */
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
    `${dataDirectory}/data.key is not the data key of this database`,
    "copy the file from another of its gateways, or from its backup",
  );

async function nextEpoch(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ epoch: bigint }>(
    "UPDATE store_state SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch",
  );
  const [state] = rows;
  if (state === undefined) throw new Error("the database has no state row");
  return Number(state.epoch);
}
