// Statements as rows of cells, prepared by name once per connection. `Asking` is one connection or the pool; columns of
// a set-based statement travel as one array each (money.md §7).
import type { ClientBase, Pool } from "pg";
import type { Cell } from "../cell.ts";

/** Whatever statements are asked on: a connection inside its transaction, or the pool. */
export type Asking = Pick<ClientBase | Pool, "query">;

export interface NamedStatement {
  name: string;
  text: string;
}

/** Names a statement, so that the server plans it once per connection. */
export const namedStatement = (name: string, text: string): NamedStatement => ({ name, text });

/** The rows, cells in the order of the columns. */
export async function askNamed(
  on: Asking,
  { name, text }: NamedStatement,
  values: unknown[],
): Promise<Cell[][]> {
  const { rows } = await on.query<Cell[]>({ name, text, values, rowMode: "array" });
  return rows;
}

/** A statement that is not worth a name; `query_timeout` where its connection's is too long, milliseconds. */
export async function askOnce(
  on: Asking,
  text: string,
  values: unknown[] = [],
  terms: { query_timeout?: number } = {},
): Promise<Cell[][]> {
  const { rows } = await on.query<Cell[]>({ text, values, rowMode: "array", ...terms });
  return rows;
}

/** One text for any number of rows, which travel as arrays, and one for a single row: its values need no array and no function. */
export interface ByRows {
  many: NamedStatement;
  one: NamedStatement;
}

/** Prepares both texts of one statement, under `name` and `name_one`. */
export const byRows = (name: string, text: (rows: "many" | "one") => string): ByRows => ({
  many: namedStatement(name, text("many")),
  one: namedStatement(`${name}_one`, text("one")),
});

/** Parameters of these types as a table. */
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

/** Rows turned into one array per column, for `unnest`: of equal length, since it pads shorter ones with NULL. */
export const transposed = <Value>(rows: readonly (readonly Value[])[], columns: number): Value[][] =>
  Array.from({ length: columns }, (_, column) => rows.map((row) => row[column] as Value));
