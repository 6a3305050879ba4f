// From a column to its field in memory, for both stores: the kind of a column stands in `store/tables.ts`, its name in memory
// follows from it, and which columns are written and loaded stands in `columns.ts`. Rows, their types, what loads them
// (`column-loads.ts`) and what writes them (`column-writes.ts`) derive from these.
import { kindOf, type Kind, type Names, type Tables } from "../store/tables.ts";

/** Fields that are not just their column in camel case; an instant, `…_at` or `…_until`, ends with `Ms`. */
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

/** Counts and times are numbers in memory, money stays exact. */
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
/** `List` where each of its names is a column of the table. */
export type KnownColumns<In extends Table, List extends string> =
  Exclude<Names<List>, keyof Tables[In] | ""> extends never ? List : never;

/** One column, its field in memory, and its kind, which says how a cell becomes a value and back. */
export interface Column {
  column: string;
  field: string;
  kind: Kind;
}

/** The columns that a list names, one blank or more between them; throws for one that the table has not. */
export const columnsOf = (table: Table, list: string): Column[] =>
  list
    .split(" ")
    .filter((column) => column !== "")
    .map((column) => ({ column, field: fieldOf(column), kind: kindOf(table, column) }));

/**
 * The function that somebody would have written by hand for these columns: a loop over their names takes ten times as long,
 * which is a twentieth of an admission with its settlement. `body` is made of columns of `store/tables.ts` and nothing else.
 */
export const compiled = <Made>(parameters: string, body: string): Made =>
  // oxlint-disable-next-line typescript/no-implied-eval -- nothing but names of our own columns
  new Function(`return (${parameters}) => ${body};`)() as Made;
