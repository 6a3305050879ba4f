// Statements outside the money path, for both stores: what payments and alerts remember is written once, in SQL that
// SQLite and PostgreSQL share (`?1` for parameters, ON CONFLICT, RETURNING), and each store brings a port.
import { type NanoUsd, nanoUsd } from "../contract/money.ts";

export type SqlValue = string | number | bigint | null;
export interface Statement {
  text: string;
  values: readonly SqlValue[];
}
/** A row by column name. Whole numbers may come as bigint, number or text: read them with the functions below. */
export type SqlRow = Record<string, unknown>;

export interface Sql {
  /** For the few places where the two stores keep a thing differently. */
  readonly dialect: "sqlite" | "postgresql";
  /** One statement, durable when it resolves; rows of a SELECT or of RETURNING. */
  rows(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** All or nothing, in one transaction; how many rows each changed. */
  together(statements: readonly Statement[]): Promise<number[]>;
  /** `then` in the transaction of `first`, and only where that changed a row; whether it did. */
  ifChanged(first: Statement, then: readonly Statement[]): Promise<boolean>;
}

export const statement = (text: string, ...values: SqlValue[]): Statement => ({ text, values });

export const textOf = (value: unknown): string => {
  if (typeof value !== "string") throw new Error(`a column holds ${typeof value}, not text`);
  return value;
};
export const numberOf = (value: unknown): number => Number(wholeOf(value));
export const moneyOf = (value: unknown): NanoUsd => nanoUsd(wholeOf(value));
export function hexOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new Error(`a column holds ${typeof value}, not bytes`);
  return Buffer.from(value).toString("hex");
}
export const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

function wholeOf(value: unknown): bigint {
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "string")
    return BigInt(value);
  throw new Error(`a column holds ${typeof value}, not a whole number`);
}
