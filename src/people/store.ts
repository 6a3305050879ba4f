// Where people are kept: a SQLite file of its own in the data directory, or a schema of its own in PostgreSQL. Not the
// ledger's file: the sign-in library holds transactions open across awaits, and a second writer would block the loop.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createHmac } from "node:crypto";
import { PEOPLE_FILE } from "../domain/data-files.ts";
import { confirmCommits } from "../store/postgres-confirmed.ts";
import { errorKind, toldAway } from "../store/postgres-error.ts";
import { keepingSettings } from "../store/postgres-session.ts";
import { fileRefusal, openedFrom, privateFile } from "../store/private-file.ts";
import { closeSqlite, lookInto } from "../store/sqlite-connection.ts";
import { isStoreFailure } from "../store/sqlite-error.ts";
import { StoreFailure } from "../store/store-failure.ts";

const SCHEMA = "people";

export const peopleFile = (dataDir: string): string => join(dataDir, PEOPLE_FILE);

export interface PeopleStore {
  /** What the sign-in library takes as its database. */
  database: Database | import("pg").Pool;
  /** One statement of ours, all or nothing; how many rows it changed. Parameters are written `?1`. */
  change(text: string, ...values: (string | number)[]): Promise<number>;
  /** Rows of one statement of ours, by their columns. Parameters are written `?1`. */
  rows(text: string, ...values: (string | number)[]): Promise<Record<string, unknown>[]>;
  /** `FOR UPDATE` where several processes write at once; nothing in a file that one process has for itself. */
  locking: "" | "FOR UPDATE";
  /** Runs the work while no other process of this store runs its own. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Connections that the database has ended or lost, so far. */
  losses(): number;
  /** Whether the database cannot be asked right now, or takes no writes. */
  away(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PeoplePlace {
  dataDir: string;
  /** Null keeps people in the data directory. */
  databaseUrl: string | null;
}

export async function openPeopleStore(place: PeoplePlace): Promise<PeopleStore> {
  return place.databaseUrl === null ? openFile(place.dataDir) : openSchema(place.databaseUrl);
}

/** The first one is for the others: a connection that closes meanwhile holds the file for a moment. */
const PRAGMAS = ["busy_timeout = 2000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"];

function openFile(dataDir: string): PeopleStore {
  const path = peopleFile(dataDir);
  privateFile(path);
  const database = openedFrom(path, () => {
    const opened = new Database(path, { create: true, readwrite: true });
    for (const pragma of PRAGMAS) opened.run(`PRAGMA ${pragma}`);
    return opened;
  });
  return {
    database,
    change: async (text, ...values) => database.query(text).run(...values).changes,
    rows: async (text, ...values) => database.query(text).all(...values) as Record<string, unknown>[],
    locking: "",
    // The data directory belongs to one process.
    alone: (work) => work(),
    losses: () => 0,
    away: async () => takesNoWrites(database),
    close: async () => {
      foldLog(database);
      closeSqlite(database);
    },
  };
}

/** Where there is no room for it the log stays beside its file, and whoever opens that next reads both. */
function foldLog(database: Database): void {
  try {
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  }
}

/** On a full disk, or where the file may not be written: it is asked to keep the number that it has. */
function takesNoWrites(database: Database): boolean {
  try {
    const [{ user_version: kept = 0 } = {}] = database.query("PRAGMA user_version").all() as {
      user_version?: number;
    }[];
    database.run(`PRAGMA user_version = ${kept}`);
    return false;
  } catch (error) {
    return isStoreFailure(error);
  }
}

async function openSchema(connectionString: string): Promise<PeopleStore> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString,
    max: 5,
    application_name: "tollgate people",
    // A database that stands still answers neither: nobody at the dashboard waits for it for ever.
    query_timeout: 12_000,
    connectionTimeoutMillis: 5_000,
    onConnect: keepingSettings({ search_path: SCHEMA, statement_timeout: "10s" }),
  });
  // An idle connection that breaks must not end the process; the next query opens another one.
  let losses = 0;
  const lost = (): void => void (losses += 1);
  pool.on("error", lost);
  pool.on("connect", (client) => {
    client.on("error", lost);
    confirmCommits(client);
  });
  const query = (text: string, values: (string | number)[]) =>
    pool.query<Record<string, unknown>>(text.replaceAll(/\?(\d+)/g, "$$$1"), values);
  const store: PeopleStore = {
    database: pool,
    change: async (text, ...values) => (await query(text, values)).rowCount ?? 0,
    rows: async (text, ...values) => (await query(text, values)).rows,
    locking: "FOR UPDATE",
    alone: (work) => locked(pool, work),
    losses: () => losses,
    away: () => isAway(pool),
    close: () => pool.end(),
  };
  try {
    await store.alone(() => pool.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`));
    return store;
  } catch (error) {
    await pool.end();
    throw toldAway(error);
  }
}

async function isAway(pool: import("pg").Pool): Promise<boolean> {
  try {
    const { rows } = await pool.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
    return rows[0]?.transaction_read_only !== "off";
  } catch (error) {
    return errorKind(error) === "store";
  }
}

/** The lock belongs to its connection: whoever dies gives it back. */
async function locked<T>(pool: import("pg").Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [SCHEMA]);
    return await work();
  } finally {
    client.release(true);
  }
}

/** Why a start would not open the file of people; null where it would, or where there is none. Makes and changes nothing. */
export function peopleRefusal(dataDir: string): StoreFailure | null {
  const path = peopleFile(dataDir);
  if (!existsSync(path)) return null;
  try {
    openedFrom(path, () => lookInto(path, (database) => database.query("SELECT 1 FROM sqlite_master").get()));
  } catch (error) {
    if (error instanceof StoreFailure) return fileRefusal(path) ?? error;
    throw error;
  }
  return fileRefusal(path);
}

/** Whether the first account was made, asked without loading the sign-in library: the start banner needs no more. */
export async function anybodyHere(place: PeoplePlace): Promise<boolean> {
  if (place.databaseUrl === null && !existsSync(peopleFile(place.dataDir))) return false;
  const store = await openPeopleStore(place);
  try {
    const { database } = store;
    if (database instanceof Database) {
      const [table] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'user'").values();
      return table !== undefined && database.query(`SELECT 1 FROM "user" LIMIT 1`).values().length > 0;
    }
    const table = await database.query<{ found: unknown }>(`SELECT to_regclass('${SCHEMA}.user') AS found`);
    if (table.rows[0]?.found === null) return false;
    return (await database.query(`SELECT 1 FROM ${SCHEMA}."user" LIMIT 1`)).rows.length > 0;
  } finally {
    await store.close();
  }
}

/**
 * The secret that signs cookies, drawn from the data key: random, private to the data directory, and the same for every
 * gateway of a store, which is refused at start with another data key.
 */
export const sessionSecret = (dataKey: Uint8Array): string =>
  createHmac("sha256", dataKey).update("session secret of people").digest("base64url");
