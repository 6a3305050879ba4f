// From a column to its field in memory and back, for both stores: the kind of a column stands in `store/tables.ts`, its
// name in memory follows from it, and which columns are written and loaded stands in `columns.ts`. Rows, their types,
// statements and parameters derive from these.
import {
  bytesOf,
  type Dialect,
  flagOf,
  moneyOf,
  numberOf,
  orNull,
  type SqlRow,
  type SqlValue,
  textOf,
} from "../store/sql.ts";
import { kindOf, type Kind, type Names, type Tables } from "../store/tables.ts";
import type { Cell } from "./cell.ts";

/** Fields that are not just their column in camel case; an instant, `…_at` or `…_until`, ends with `Ms`. */
const FIELDS = { org_id: "organizationId", idem_key: "idempotencyKey", limit_nano: "limit" } as const;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
type FieldOf<Column extends string> = Column extends keyof typeof FIELDS
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
type InMemory<Value> = true extends Value
  ? boolean
  : bigint extends Exclude<Value, null>
    ? number | Extract<Value, null>
    : Value;

type Table = keyof Tables;
/** Some columns of a table as a row in memory. */
export type RowOf<In extends Table, List extends string> = {
  [Column in Extract<keyof Tables[In], Names<List>> as FieldOf<Column>]: InMemory<Tables[In][Column]>;
};
/** `List` where each of its names is a column of the table. */
type Of<In extends Table, List extends string> =
  Exclude<Names<List>, keyof Tables[In] | ""> extends never ? List : never;

export interface Column {
  column: string;
  field: string;
  kind: Kind;
}

const columnsOf = (table: Table, list: string): Column[] =>
  list
    .split(" ")
    .filter((column) => column !== "")
    .map((column) => ({ column, field: fieldOf(column), kind: kindOf(table, column) }));

// ── Loading ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Columns that are loaded together; cells come in their order. */
export interface Load<Row> {
  columns: readonly Column[];
  /** Behind the columns: conditions on further ones, by field. */
  conditions: readonly { field: string; condition: string }[];
  /** The row in `cells`, from the cell at `from` on. */
  row(cells: readonly Cell[], from?: number): Row;
  /** The row by the names of its columns. Throws for what is not of its kind. */
  named(row: SqlRow): Row;
}

/** The list of a SELECT from a table under this alias. */
export const selected = ({ columns, conditions }: Load<unknown>, alias: string): string =>
  [
    ...columns.map(({ column }) => `${alias}.${column}`),
    ...conditions.map(({ condition }) => `${alias}.${condition}`),
  ].join(", ");

/** How many cells a row of it has. */
export const widthOf = ({ columns, conditions }: Load<unknown>): number => columns.length + conditions.length;

const READ: Readonly<Record<Kind, (value: unknown) => unknown>> = {
  text: textOf,
  textOrNull: (value) => orNull(value, textOf),
  oneOf: textOf,
  oneOfOrNull: (value) => orNull(value, textOf),
  whole: numberOf,
  wholeOrNull: (value) => orNull(value, numberOf),
  money: moneyOf,
  moneyOrNull: (value) => orNull(value, moneyOf),
  bytes: bytesOf,
  flag: flagOf,
};

/** A cell as it is in memory, as source text (`cell.ts`). */
function readOf(kind: Kind): (cell: string) => string {
  if (kind === "whole") return (cell) => `Number(${cell})`;
  if (kind === "wholeOrNull") return (cell) => `${cell} === null ? null : Number(${cell})`;
  if (kind === "flag") return (cell) => `${cell} === true || ${cell} === 1n`;
  return (cell) => cell;
}

/**
 * The function that somebody would have written by hand for these columns: a loop over their names takes ten times as long,
 * which is a twentieth of an admission with its settlement. `body` is made of columns of `store/tables.ts` and nothing else.
 */
const written = <Made>(parameters: string, body: string): Made =>
  // oxlint-disable-next-line typescript/no-implied-eval -- nothing but names of our own columns
  new Function(`return (${parameters}) => ${body};`)() as Made;

/** `conditions`: fields that are true where a condition on a column holds, `{ checkpointed: "delivered_tokens IS NOT NULL" }`. */
export function load<In extends Table, List extends string, Condition extends string = never>(
  table: In,
  list: List & Of<In, List>,
  conditions?: Record<Condition, string>,
): Load<RowOf<In, List> & Record<Condition, boolean>> {
  const columns = columnsOf(table, list);
  const asked = Object.entries<string>(conditions ?? {}).map(([field, condition]) => ({ field, condition }));
  const fields = [
    ...columns.map(({ field, kind }, index) => `${field}: ${readOf(kind)(`cells[from + ${index}]`)}`),
    ...asked.map(
      ({ field }, index) => `${field}: ${readOf("flag")(`cells[from + ${columns.length + index}]`)}`,
    ),
  ];
  type Row = RowOf<In, List> & Record<Condition, boolean>;
  return {
    columns,
    conditions: asked,
    row: written<(cells: readonly Cell[], from?: number) => Row>(
      "cells, from = 0",
      `({ ${fields.join(", ")} })`,
    ),
    named: (found) =>
      Object.fromEntries([
        ...columns.map(({ column, field, kind }) => [field, READ[kind](found[column])]),
        ...asked.map(({ field, condition }) => [field, flagOf(found[condition])]),
      ]) as Row,
  };
}

// ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * One statement over rows `r`, as both stores have it but for where `r` comes from. `once`: each row must find its own in
 * the table as it was read, or the transaction is rolled back.
 */
export interface Write<Row> {
  name: string;
  /** The fields of `r` in the order of `values`. */
  parameters: readonly Column[];
  values: (row: Row) => SqlValue[];
  statement:
    | { kind: "insert"; into: string; fixed: readonly Fixed[]; onConflict: string }
    | { kind: "update" | "delete"; head: string; where: string };
  once: boolean;
  /** Rows too large to be sent as one list. */
  large: boolean;
}

interface Fixed {
  column: string;
  /** SQL. */
  value: Readonly<Record<Dialect, string>>;
}

const parametersOf = <Row>(columns: readonly Column[]): Pick<Write<Row>, "parameters" | "values"> => ({
  parameters: columns,
  values: written<(row: Row) => SqlValue[]>(
    "row",
    `[${columns.map(({ field }) => `row.${field}`).join(", ")}]`,
  ),
});

interface Inserting {
  /** Columns that hold the same in every new row. */
  fixed?: Readonly<Record<string, Readonly<Record<Dialect, string>>>>;
  /** The row that is there already (`had`) takes these over from the new one (`excluded`). */
  over?: { key: string; set: string };
  /** Or is added up with it, to 63 bits at most. */
  added?: { key: string; set: string };
  large?: true;
}

/** New rows of a table. */
export function insert<In extends Table, List extends string>(
  table: In,
  list: List & Of<In, List>,
  { fixed = {}, over, added, large }: Inserting = {},
): Write<RowOf<In, List>> {
  const key = over?.key ?? added?.key;
  const changes = [
    ...names(over?.set).map((column) => `${column} = excluded.${column}`),
    ...names(added?.set).map(saturated),
  ];
  return {
    name: `insert_${table}`,
    ...parametersOf<RowOf<In, List>>(columnsOf(table, list)),
    statement: {
      kind: "insert",
      into: table,
      fixed: Object.entries(fixed).map(([column, value]) => ({ column, value })),
      onConflict:
        key === undefined ? "" : `ON CONFLICT (${names(key).join(", ")}) DO UPDATE SET ${changes.join(", ")}`,
    },
    once: false,
    large: large ?? false,
  };
}

/**
 * A roll-up must not keep a hold from its end: an older program may have filled it to the brim with what a provider told,
 * or its row is damaged. The audit compares it with its requests.
 */
const saturated = (column: string): string =>
  `${column} = CASE WHEN had.${column} > 9223372036854775807 - excluded.${column}
     THEN 9223372036854775807 ELSE had.${column} + excluded.${column} END`;

type ReadBefore<In extends Table, List extends string> = {
  [Column in Extract<keyof Tables[In], Names<List>> as `${FieldOf<Column>}Read`]: InMemory<
    Tables[In][Column]
  >;
};

/**
 * Rows that are there, each changed exactly once or the transaction is rolled back. `key` finds a row, `set` is written,
 * `kept` where it is not null; of `read` the row carries what was read, `holdRead` for `hold`, and must still hold it.
 */
export function update<
  In extends Table,
  Key extends string,
  Changed extends string,
  Kept extends string = "",
  Was extends string = "",
>(
  name: string,
  table: In,
  lists: {
    key: Key & Of<In, Key>;
    set: Changed & Of<In, Changed>;
    kept?: Kept & Of<In, Kept>;
    read?: Was & Of<In, Was>;
    /** SQL over the row that is there, `t`. */
    where: string;
  },
): Write<RowOf<In, `${Key} ${Changed}`> & OrNull<RowOf<In, Kept>> & ReadBefore<In, Was>> {
  const { key, set, kept = "", read = "", where } = lists;
  const was = columnsOf(table, read).map((column) => ({
    ...column,
    column: `${column.column}_read`,
    field: `${column.field}Read`,
  }));
  const changes = [
    ...names(set).map((column) => `${column} = r.${column}`),
    ...names(kept).map((column) => `${column} = coalesce(r.${column}, t.${column})`),
  ];
  const conditions = [
    ...names(key).map((column) => `t.${column} = r.${column}`),
    ...names(read).map((column) => `t.${column} = r.${column}_read`),
    where,
  ];
  return {
    name,
    ...parametersOf([...columnsOf(table, `${key} ${set} ${kept}`), ...was]),
    statement: {
      kind: "update",
      head: `UPDATE ${table} AS t SET ${changes.join(", ")}`,
      where: conditions.join(" AND "),
    },
    once: true,
    large: false,
  };
}

type OrNull<Row> = { [Field in keyof Row]: Row[Field] | null };

/** Rows that may be there. */
export const remove = <In extends Table, Key extends string>(
  name: string,
  table: In,
  key: Key & Of<In, Key>,
): Write<RowOf<In, Key>> => ({
  name,
  ...parametersOf<RowOf<In, Key>>(columnsOf(table, key)),
  statement: {
    kind: "delete",
    head: `DELETE FROM ${table} AS t`,
    where: names(key)
      .map((column) => `t.${column} = r.${column}`)
      .join(" AND "),
  },
  once: false,
  large: false,
});

const names = (list: string | undefined): string[] =>
  list === undefined || list === "" ? [] : list.split(" ");

/** The rows that a statement writes. */
export type Written<Statement> = Statement extends Write<infer Row> ? Row : never;
/** The row that a load makes. */
export type Loaded<From> = From extends Load<infer Row> ? Row : never;
