// Where people are stored: a SQLite file of its own in the data directory, or a schema of its own in
// PostgreSQL. Not the ledger's file: the sign-in library holds transactions open across awaits, and a second
// writer would block the event loop.
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { createHmac } from "node:crypto";
import type { AuditNote } from "../domain/audit-note.ts";
import { PEOPLE_FILE } from "../domain/data-files.ts";
import { realPlace } from "../lib/real-place.ts";
import type { AuditOutbox } from "./outbox.ts";
import type { PeopleTransactions } from "./transactions.ts";

/** Where a link leads to it, as with the ledger's file. */
export const peopleFile = (dataDir: string): string => realPlace(join(dataDir, PEOPLE_FILE));

export interface PeopleStore {
  /** Where the sign-in library creates its tables. */
  database: Database | import("pg").Pool;
  /** Everything else that the library writes, and everything that we write. */
  transactions: PeopleTransactions;
  /**
   * Runs one statement of ours, all or nothing; returns the number of changed rows. Parameters are written
   * `?1`.
   */
  change(text: string, ...values: (string | number)[]): Promise<number>;
  /** The rows of one statement of ours, by column name. Parameters are written `?1`. */
  rows(text: string, ...values: (string | number)[]): Promise<Record<string, unknown>[]>;
  /** Writes an audit line, in the transaction of its change. */
  line(note: AuditNote, atMs: number): Promise<void>;
  /** Where lines wait that are not in the log yet; null if they are written into it directly. */
  outbox: AuditOutbox | null;
  /** `FOR UPDATE` if several processes write concurrently; empty for a file that one process has to itself. */
  locking: "" | "FOR UPDATE";
  /** Runs the work while no other process of this store runs its own. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** The number of connections ended or lost by the database so far. */
  losses(): number;
  /** True if the database is unreachable right now, or accepts no writes. */
  away(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PeoplePlace {
  dataDir: string;
  /** Null keeps people in the data directory. */
  databaseUrl: string | null;
}

/**
 * The secret that signs cookies, derived from the data key: random, private to the data directory, and the
 * same for every gateway of a store, since a gateway with another data key is refused at start.
 */
export const sessionSecret = (dataKey: Uint8Array): string =>
  createHmac("sha256", dataKey).update("session secret of people").digest("base64url");
