// People in a PostgreSQL schema of their own, next to the ledger's: audit lines are written into its log, in
// the transaction of the change. Changes run one at a time across all gateways, so each sees the complete
// result of the one before.
import type { Pool, PoolClient } from "pg";
import pg from "pg";
import { PEOPLE_SCHEMA as SCHEMA } from "../domain/data-files.ts";
import { overloaded } from "../domain/overloaded.ts";
import { auditLine } from "../store/audit-log.ts";
import { checkingServer } from "../store/postgres-address.ts";
import { confirmCommits } from "../store/postgres-confirmed.ts";
import { errorKind, toldAway } from "../store/postgres-error.ts";
import { keepingSettings } from "../store/postgres-session.ts";
import { sent } from "../store/postgres-sql.ts";
import { Gate } from "./gate.ts";
import type { PeopleStore } from "./store.ts";
import { type Connections, type Ran, type Transaction, PeopleTransactions } from "./transactions.ts";

/** A gateway that stalls with an open change blocks those of all others. */
const IDLE_CHANGE = "5s";
/** The name of the lock on changes. */
const WAIT_MS = 5_000;
const CHANGES = "changes of people";

/** Rejects as `overloaded` if the database is unreachable. */
export async function openPeopleSchema(url: string): Promise<PeopleStore> {
  const pool = new pg.Pool({
    connectionString: checkingServer(url),
    max: 5,
    application_name: "tollgate people",
    // A database that hangs does not respond to either; nobody at the dashboard should wait forever.
    query_timeout: 12_000,
    connectionTimeoutMillis: 5_000,
    onConnect: keepingSettings({
      search_path: SCHEMA,
      statement_timeout: "10s",
      idle_in_transaction_session_timeout: IDLE_CHANGE,
    }),
  });
  // A broken idle connection must not end the process; the next query opens a new one.
  let losses = 0;
  const lost = (): void => void (losses += 1);
  pool.on("error", lost);
  pool.on("connect", (client) => {
    client.on("error", lost);
    confirmCommits(client);
  });
  const transactions = new PeopleTransactions(connectionsOn(pool, lost));
  const numbered = (text: string): string => text.replaceAll(/\?(\d+)/g, "$$$1");
  let ledgerSchema: string | null = null;
  const store: PeopleStore = {
    database: pool,
    transactions,
    change: async (text, ...values) => (await transactions.write(numbered(text), values)).changes,
    rows: async (text, ...values) => (await transactions.read(numbered(text), values)).rows,
    line: async (note, atMs) => {
      ledgerSchema ??= await ledgerSchemaOf(pool);
      const { text, values } = sent(auditLine(note, atMs, ledgerSchema));
      await transactions.write(text, values);
    },
    outbox: null,
    locking: "FOR UPDATE",
    alone: (work) => locked(pool, work),
    losses: () => losses,
    away: () => isAway(pool),
    close: () => pool.end(),
  };
  try {
    await store.alone(() => makeSchema(pool));
    return store;
  } catch (error) {
    await pool.end();
    throw toldAway(error);
  }
}

/**
 * An existing schema is used as it is, because the user may lack the right to create one, and `IF NOT EXISTS` requires
 * that right even then.
 */
async function makeSchema(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ made: unknown }>("SELECT to_regnamespace($1) AS made", [SCHEMA]);
  if (rows[0]?.made === null) await pool.query(`CREATE SCHEMA ${SCHEMA}`);
}

/**
 * `lost` is called for each statement that failed because of the database: the sign-in library does not pass the cause
 * on.
 */
function connectionsOn(pool: Pool, lost: () => void): Connections {
  const gate = new Gate();
  const noting = async (running: Promise<Ran>): Promise<Ran> => {
    try {
      return await running;
    } catch (error) {
      if (errorKind(error) === "store") lost();
      throw error;
    }
  };
  return {
    once: (text, values) => noting(runOn(pool, text, values)),
    async begin() {
      // Queues before taking a connection, so that readers still find one.
      const leave = await gate.enter({ afterMs: WAIT_MS, error: () => overloaded() });
      try {
        const transaction = transactionOn(await begun(pool), leave);
        return { ...transaction, run: (text, values) => noting(transaction.run(text, values)) };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

async function begun(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [CHANGES]);
    return client;
  } catch (error) {
    client.release(true);
    throw toldAway(error); // also for a lock wait that timed out
  }
}

function transactionOn(client: PoolClient, leave: () => void): Transaction {
  const end = async (how: "COMMIT" | "ROLLBACK"): Promise<void> => {
    let whole = false;
    try {
      const { command } = await client.query(how);
      if (command !== how) throw new Error("the transaction of this change was rolled back");
      whole = true;
    } finally {
      // A connection whose transaction may still be open is not reused.
      client.release(!whole);
      leave();
    }
  };
  return {
    // A duplicate row is an expected result, but in PostgreSQL the error would abort the transaction.
    run: (text, values) =>
      /^\s*insert/i.test(text) ? insertedOn(client, text, values) : runOn(client, text, values),
    commit: () => end("COMMIT"),
    rollback: () => end("ROLLBACK"),
  };
}

async function insertedOn(client: PoolClient, text: string, values: readonly unknown[]): Promise<Ran> {
  await client.query("SAVEPOINT row");
  try {
    const ran = await runOn(client, text, values);
    await client.query("RELEASE row");
    return ran;
  } catch (error) {
    await client.query("ROLLBACK TO row").catch(() => {}); // a lost connection has already ended its transaction
    throw error;
  }
}

async function runOn(on: Pool | PoolClient, text: string, values: readonly unknown[]): Promise<Ran> {
  const { rows, rowCount } = await on.query<Record<string, unknown>>(text, [...values]);
  return { rows, changes: rowCount ?? 0 };
}

/** The schema of the audit log as a quoted SQL name: the search path of people does not include it. */
async function ledgerSchemaOf(pool: Pool): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL search_path TO DEFAULT");
    const { rows } = await client.query<{ schema: string }>("SELECT quote_ident(current_schema()) AS schema");
    await client.query("COMMIT");
    client.release();
    return rows[0]?.schema ?? "public";
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function isAway(pool: Pool): Promise<boolean> {
  try {
    const { rows } = await pool.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
    return rows[0]?.transaction_read_only !== "off";
  } catch (error) {
    return errorKind(error) === "store";
  }
}

/** The lock belongs to its connection, so a process that dies releases it. */
async function locked<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [SCHEMA]);
    return await work();
  } finally {
    client.release(true);
  }
}
