// Where people are kept: a SQLite file of its own in the data directory, or a schema of its own in PostgreSQL. Not the
// ledger's file: the sign-in library holds transactions open across awaits, and a second writer would block the loop.
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { createHmac } from "node:crypto";
import type { AuditNote } from "../domain/audit-note.ts";
import { PEOPLE_FILE } from "../domain/data-files.ts";
import type { AuditOutbox } from "./outbox.ts";
import type { PeopleTransactions } from "./transactions.ts";

export const PEOPLE_SCHEMA = "people";

export const peopleFile = (dataDir: string): string => join(dataDir, PEOPLE_FILE);

export interface PeopleStore {
  /** What the sign-in library makes its tables on. */
  database: Database | import("pg").Pool;
  /** Everything else of the library, and all of ours. */
  transactions: PeopleTransactions;
  /** One statement of ours, all or nothing; how many rows it changed. Parameters are written `?1`. */
  change(text: string, ...values: (string | number)[]): Promise<number>;
  /** Rows of one statement of ours, by their columns. Parameters are written `?1`. */
  rows(text: string, ...values: (string | number)[]): Promise<Record<string, unknown>[]>;
  /** A line of the audit log, inside the transaction of what it tells of. */
  line(note: AuditNote, atMs: number): Promise<void>;
  /** Where lines wait that are not in the log yet; null where they are written into it. */
  outbox: AuditOutbox | null;
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

/**
 * The secret that signs cookies, drawn from the data key: random, private to the data directory, and the same for every
 * gateway of a store, which is refused at start with another data key.
 */
export const sessionSecret = (dataKey: Uint8Array): string =>
  createHmac("sha256", dataKey).update("session secret of people").digest("base64url");
