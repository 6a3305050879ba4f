// Statements outside the money path, for both stores: those of the registry, payments and alerts are written once, in
// SQL that SQLite and PostgreSQL share (`?1` for parameters, ON CONFLICT, RETURNING), and each store provides a port.
import { type NanoUsd, nanoUsd } from "../domain/money.ts";

export type SqlDialect = "sqlite" | "postgresql";
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;
/** Text with `?1` for parameters, and their values in that order. */
export interface Statement {
  /** One text for both stores; by dialect if they store something differently. */
  text: string | Readonly<Record<SqlDialect, string>>;
  values: readonly SqlValue[];
  /** Locks the rows found until the end of the transaction. SQLite has one writer and needs no lock. */
  locks?: true;
}
/** A row by column name. Whole numbers may come as bigint, number or text: read them with the functions below. */
export type SqlRow = Record<string, unknown>;

/** The port to either store, for everything outside the money path. */
export interface Sql {
  /** For the few places where the two stores keep something differently. */
  readonly dialect: SqlDialect;
  /** Runs one statement, durable when it resolves; returns the rows of a SELECT or of RETURNING. */
  rows(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Runs all or nothing, in one transaction; returns how many rows each changed. */
  together(statements: readonly Statement[]): Promise<number[]>;
  /** Runs `then` in the transaction of `first`, only if that changed a row; returns whether it did. */
  ifChanged(first: Statement, then: readonly Statement[]): Promise<boolean>;
}

/** Reads for people, separate from what serves requests and changes: on their own thread or connections. */
export interface ReadingApart extends Sql {
  /** How many statements it reads at once; more only wait there. */
  readonly abreast: number;
  /** Rejects everything that still waits. */
  stop(): Promise<void>;
}

/** Builds a statement with `?1`, `?2` … for its values, whichever store it goes to. */
export const statement = (text: Statement["text"], ...values: SqlValue[]): Statement => ({ text, values });

/**
 * Statements that depend on one another, written once for both stores: each is passed out with `yield`, which returns its
 * rows. SQLite runs it to its end without releasing its thread, so that nothing comes between; PostgreSQL waits at each.
 */
export type Query<T> = Generator<Statement, T, SqlRow[]>;

/** Returns the rows of one statement. */
export function* ask(text: Statement["text"], values: readonly SqlValue[] = []): Query<SqlRow[]> {
  return yield { text, values };
}

/** Returns the rows of a SELECT, locked until the end of the transaction; only inside one. */
export function* lock(text: string, values: readonly SqlValue[]): Query<SqlRow[]> {
  return yield { text, values, locks: true };
}

/** Returns the statement's text in this dialect, with parameters still as `?1`. */
export const textIn = (dialect: SqlDialect, { text, locks }: Statement): string => {
  const own = typeof text === "string" ? text : text[dialect];
  return locks === true && dialect === "postgresql" ? `${own} FOR UPDATE` : own;
};

/** These readers throw for a cell of another type, which a damaged row may hold. */
export const textOf = (value: unknown): string => {
  if (typeof value !== "string") throw new Error(`a column holds ${typeof value}, not text`);
  return value;
};
/** A count or a time; rounded beyond 2^53. */
export const numberOf = (value: unknown): number => Number(wholeOf(value));
/** Nano-USD, exact. */
export const moneyOf = (value: unknown): NanoUsd => nanoUsd(wholeOf(value));
/** SQLite has no booleans and uses 1 and 0. */
export const flagOf = (value: unknown): boolean =>
  typeof value === "boolean" ? value : wholeOf(value) === 1n;
/** Does not copy. */
export function bytesOf(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error(`a column holds ${typeof value}, not bytes`);
  return value;
}
/** Returns the result of `read`, or null for a missing value. */
export const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

/** Splits a list into pieces that a statement can take as parameters: every store limits their number. */
export function inHundreds<Value>(values: readonly Value[]): Value[][] {
  const pieces: Value[][] = [];
  for (let from = 0; from < values.length; from += 500) pieces.push(values.slice(from, from + 500));
  return pieces;
}

/** Returns a parameter for each value: `?3, ?4`. */
export const placesFrom = (first: number, values: readonly unknown[]): string =>
  values.map((_, n) => `?${first + n}`).join(", ");

/**
 * Patterns for `lower(column) LIKE … ESCAPE '!'`, of which one matches whatever contains this text in any case; a blank
 * text matches everything. The `lower` of SQLite, and of a PostgreSQL database with the locale C, knows only ASCII
 * letters. Other letters are looked for as they were typed, small, capital, and with capitals at the beginning of words.
 */
export function likePatterns(text: string): string[] {
  const inTitles = text.replace(
    /(\p{L})(\p{L}*)/gu,
    (_, first: string, rest: string) => first.toUpperCase() + rest.toLowerCase(),
  );
  const spellings = [text, text.toLowerCase(), text.toUpperCase(), inTitles].map(
    (one) => `%${one.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[!%_]/g, "!$&")}%`,
  );
  return [...new Set(spellings)];
}

/** SQL condition: one of the columns matches one of the patterns of `likePatterns`, whose parameters are these (`?3`). */
export const hasPart = (columns: readonly string[], parameters: readonly string[]): string =>
  columns
    .flatMap((column) => parameters.map((pattern) => `lower(${column}) LIKE ${pattern} ESCAPE '!'`))
    .join(" OR ");

function wholeOf(value: unknown): bigint {
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "string")
    return BigInt(value);
  throw new Error(`a column holds ${typeof value}, not a whole number`);
}
