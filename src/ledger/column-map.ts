// Maps columns to fields in memory, for both stores. `store/tables.ts` gives the kind of each column, its name in memory
// is derived from the column name, and `columns.ts` lists which columns are written and loaded. Rows, their types, the
// code that loads them (`column-loads.ts`) and the code that writes them (`column-writes.ts`) derive from these.
import { kindOf, type Kind, type Names, type Tables } from "../store/tables.ts";

/** Fields that are not just the column in camel case. An instant, `…_at` or `…_until`, ends in `Ms`. */
const FIELDS = {
  org_id: "organizationId",
  idem_key: "idempotencyKey",
  limit_nano: "limit",
  day_limit_nano: "dayLimit",
  week_limit_nano: "weekLimit",
} as const;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
export type FieldOf<Column extends string> = Column extends keyof typeof FIELDS
  ? (typeof FIELDS)[Column]
  : Column extends "at" | `${string}_at` | `${string}_until`
    ? `${Camel<Column>}Ms`
    : Camel<Column>;

function fieldOf(column: string): string {
  if (column in FIELDS) return FIELDS[column as keyof typeof FIELDS];
  const camel = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return /(?:^|_)(?:at|until)$/.test(column) ? `${camel}Ms` : camel;
}

/** Counts and times are numbers in memory; money stays exact. */
export type InMemory<Value> = true extends Value
  ? boolean
  : bigint extends Exclude<Value, null>
    ? number | Extract<Value, null>
    : Value;

export type Table = keyof Tables;
/** Some columns of a table as a row in memory. */
export type RowOf<In extends Table, List extends string> = {
  [Column in Extract<keyof Tables[In], Names<List>> as FieldOf<Column>]: InMemory<Tables[In][Column]>;
};
/** `List`, provided that each of its names is a column of the table. */
export type KnownColumns<In extends Table, List extends string> =
  Exclude<Names<List>, keyof Tables[In] | ""> extends never ? List : never;

/** A column, its field in memory, and its kind, which determines how a cell converts to a value and back. */
export interface Column {
  column: string;
  field: string;
  kind: Kind;
}

/** Returns the columns in a space-separated list; throws for a name that is not a column of the table. */
export const columnsOf = (table: Table, list: string): Column[] =>
  list
    .split(" ")
    .filter((column) => column !== "")
    .map((column) => ({ column, field: fieldOf(column), kind: kindOf(table, column) }));

/**
 * Compiles the function that one would write by hand for these columns. A loop over their names takes ten times as long,
 * which is a twentieth of an admission with its settlement. `body` is built only from the columns in `store/tables.ts`.
 */
export const compiled = <Made>(parameters: string, body: string): Made =>
  // oxlint-disable-next-line typescript/no-implied-eval -- nothing but names of our own columns
  new Function(`return (${parameters}) => ${body};`)() as Made;
