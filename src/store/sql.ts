// Statements outside the money path, for both stores: what the registry, payments and alerts remember is written once, in
// SQL that SQLite and PostgreSQL share (`?1` for parameters, ON CONFLICT, RETURNING), and each store brings a port.
import { type NanoUsd, nanoUsd } from "../domain/money.ts";

export type SqlDialect = "sqlite" | "postgresql";
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;
/** Text with `?1` for parameters, and their values in that order. */
export interface Statement {
  /** One for both stores; by dialect where they keep a thing differently. */
  text: string | Readonly<Record<SqlDialect, string>>;
  values: readonly SqlValue[];
  /** The rows found stay as they are to the end of the transaction. On SQLite, which has one writer, they do anyway. */
  locks?: true;
}
/** A row by column name. Whole numbers may come as bigint, number or text: read them with the functions below. */
export type SqlRow = Record<string, unknown>;

/** The port to either store, for what is not the money path. */
export interface Sql {
  /** For the few places where the two stores keep a thing differently. */
  readonly dialect: SqlDialect;
  /** One statement, durable when it resolves; rows of a SELECT or of RETURNING. */
  rows(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** All or nothing, in one transaction; how many rows each changed. */
  together(statements: readonly Statement[]): Promise<number[]>;
  /** `then` in the transaction of `first`, and only where that changed a row; whether it did. */
  ifChanged(first: Statement, then: readonly Statement[]): Promise<boolean>;
}

/** What people read, apart from what serves requests and changes: on a thread, or on connections, of its own. */
export interface ReadingApart extends Sql {
  /** What still waits is rejected. */
  stop(): Promise<void>;
}

/** With `?1`, `?2` … for its values, whichever store it goes to. */
export const statement = (text: Statement["text"], ...values: SqlValue[]): Statement => ({ text, values });

/**
 * Statements that depend on one another, written once for both stores: each is given up with `yield`, its rows come back.
 * SQLite runs it to its end without letting go of its thread, so that nothing comes between; PostgreSQL waits at each.
 */
export type Query<T> = Generator<Statement, T, SqlRow[]>;

/** The rows of one statement. */
export function* ask(text: Statement["text"], values: readonly SqlValue[] = []): Query<SqlRow[]> {
  return yield { text, values };
}

/** The rows of a SELECT, locked to the end of the transaction; only inside of one. */
export function* lock(text: string, values: readonly SqlValue[]): Query<SqlRow[]> {
  return yield { text, values, locks: true };
}

/** The statement as this dialect writes it, its parameters still `?1`. */
export const textIn = (dialect: SqlDialect, { text, locks }: Statement): string => {
  const own = typeof text === "string" ? text : text[dialect];
  return locks === true && dialect === "postgresql" ? `${own} FOR UPDATE` : own;
};

/** These readers throw for a cell of another type, which a damaged row may hold. */
export const textOf = (value: unknown): string => {
  if (typeof value !== "string") throw new Error(`a column holds ${typeof value}, not text`);
  return value;
};
/** A count or a time; beyond 2^53 it is rounded. */
export const numberOf = (value: unknown): number => Number(wholeOf(value));
/** Nano-USD, exact. */
export const moneyOf = (value: unknown): NanoUsd => nanoUsd(wholeOf(value));
/** SQLite has no booleans: 1 and 0. */
export const flagOf = (value: unknown): boolean =>
  typeof value === "boolean" ? value : wholeOf(value) === 1n;
/** No copy. */
export function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error(`a column holds ${typeof value}, not bytes`);
  return value;
}
/** What `read` makes of it, unless nothing is there. */
export const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

/** A list in pieces that a statement takes as its parameters: every store has an end to them. */
export function inHundreds<Value>(values: readonly Value[]): Value[][] {
  const pieces: Value[][] = [];
  for (let from = 0; from < values.length; from += 500) pieces.push(values.slice(from, from + 500));
  return pieces;
}

/** `?3, ?4`: a parameter for each value. */
export const placesFrom = (first: number, values: readonly unknown[]): string =>
  values.map((_, n) => `?${first + n}`).join(", ");

/** For `lower(column) LIKE … ESCAPE '!'`: whatever holds this text, however that is written. A blank one is held by all. */
export const partOf = (text: string): string => `%${text.toLowerCase().replace(/[!%_]/g, "!$&")}%`;

function wholeOf(value: unknown): bigint {
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "string")
    return BigInt(value);
  throw new Error(`a column holds ${typeof value}, not a whole number`);
}
