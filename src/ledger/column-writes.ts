// Statements that insert, update and delete rows of the ledger. Each store supplies the rows in its own way.
import type { SqlValue } from "../store/sql.ts";
import type { Names, Tables } from "../store/tables.ts";
import {
  type Column,
  columnsOf,
  compiled,
  type FieldOf,
  type InMemory,
  type KnownColumns,
  type RowOf,
  type Table,
} from "./column-map.ts";

/**
 * One statement over rows `r`, the same on both stores except for where `r` comes from. `once`: each
 * row must match its row in the table as it was read, or the transaction is rolled back.
 */
export interface Write<Row> {
  name: string;
  /** The fields of `r`, in the order of `values`. */
  parameters: readonly Column[];
  values: (row: Row) => SqlValue[];
  statement:
    | { kind: "insert"; into: string; fixed: readonly Fixed[]; onConflict: string }
    | { kind: "update" | "delete"; head: string; where: string };
  once: boolean;
  /** True if the rows are too large to be sent as one list. */
  large: boolean;
}

interface Fixed {
  column: string;
  /** An SQL expression. */
  value: string;
}

const parametersOf = <Row>(columns: readonly Column[]): Pick<Write<Row>, "parameters" | "values"> => ({
  parameters: columns,
  values: compiled<(row: Row) => SqlValue[]>(
    "row",
    `[${columns.map(({ field }) => `row.${field}`).join(", ")}]`,
  ),
});

interface Inserting {
  /** Columns with the same value in every new row. */
  fixed?: Readonly<Record<string, string>>;
  /** On conflict, the existing row (`had`) takes these columns from the new one (`excluded`). */
  over?: { key: string; set: string };
  /** On conflict, these columns are added to the existing row, up to 63 bits. */
  added?: { key: string; set: string };
  large?: true;
}

/** Inserts new rows into a table. */
export function insert<In extends Table, List extends string>(
  table: In,
  list: List & KnownColumns<In, List>,
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
 * A roll-up must not block the end of a hold: an older program may have filled it to the maximum with usage reported by
 * a provider, or its row may be damaged. Verification compares it with its requests.
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
 * Updates existing rows, each exactly once, or the transaction is rolled back. `key` finds a row, `set` is written, `kept` too
 * where it is not null. For each column of `read` the table must still hold the value the row carries (`holdRead` for `hold`).
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
    key: Key & KnownColumns<In, Key>;
    set: Changed & KnownColumns<In, Changed>;
    kept?: Kept & KnownColumns<In, Kept>;
    read?: Was & KnownColumns<In, Was>;
    /** SQL over the existing row, `t`. */
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

/** Deletes rows that may or may not exist. */
export const remove = <In extends Table, Key extends string>(
  name: string,
  table: In,
  key: Key & KnownColumns<In, Key>,
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
