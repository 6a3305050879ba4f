// Runs statements that return rows of cells and are prepared by name once per connection. `Asking` is
// one connection or the pool; a set-based statement takes each column as one array (money.md §7).
import type { ClientBase, Pool } from "pg";
import type { Cell } from "../cell.ts";

/** Anything that runs statements: a connection inside its transaction, or the pool. */
export type Asking = Pick<ClientBase | Pool, "query">;

export interface NamedStatement {
  name: string;
  text: string;
}

/** Names a statement, so that the server plans it once per connection. */
export const namedStatement = (name: string, text: string): NamedStatement => ({ name, text });

/** Returns the rows, with cells in the order of the columns. */
export async function askNamed(
  on: Asking,
  { name, text }: NamedStatement,
  values: unknown[],
): Promise<Cell[][]> {
  const { rows } = await on.query<Cell[]>({ name, text, values, rowMode: "array" });
  return rows;
}

/** Runs an unnamed statement; `query_timeout`, in milliseconds, overrides a connection timeout that is too long. */
export async function askOnce(
  on: Asking,
  text: string,
  values: unknown[] = [],
  terms: { query_timeout?: number } = {},
): Promise<Cell[][]> {
  const { rows } = await on.query<Cell[]>({ text, values, rowMode: "array", ...terms });
  return rows;
}

/** One text for any number of rows, sent as arrays, and one for a single row, whose values need no arrays and no function. */
export interface ByRows {
  many: NamedStatement;
  one: NamedStatement;
}

/** Prepares both texts of one statement, under `name` and `name_one`. */
export const byRows = (name: string, text: (rows: "many" | "one") => string): ByRows => ({
  many: namedStatement(name, text("many")),
  one: namedStatement(`${name}_one`, text("one")),
});

/** Returns parameters of these types as a table expression. */
export function parameterRows(
  rows: "many" | "one",
  table: string,
  columns: readonly (readonly [name: string, type: string])[],
): string {
  const names = columns.map(([name]) => name).join(", ");
  const values = columns.map(([, type], index) => `$${index + 1}::${type}`);
  return rows === "many"
    ? `unnest(${values.map((value) => `${value}[]`).join(", ")}) AS ${table} (${names})`
    : `(SELECT ${values.join(", ")}) AS ${table} (${names})`;
}

/** Transposes rows into one array per column, all of equal length: `unnest` would pad shorter ones with NULL. */
export const transposed = <Value>(rows: readonly (readonly Value[])[], columns: number): Value[][] =>
  Array.from({ length: columns }, (_, column) => rows.map((row) => row[column] as Value));
