// Groups of columns that are loaded together: their SELECT list, and the in-memory row built from their cells.
import { bytesOf, flagOf, moneyOf, numberOf, orNull, type SqlRow, textOf } from "../store/sql.ts";
import type { Kind } from "../store/tables.ts";
import type { Cell } from "./cell.ts";
import { type Column, columnsOf, compiled, type KnownColumns, type RowOf, type Table } from "./column-map.ts";

/** A group of columns loaded together; cells come in the same order. */
export interface Load<Row> {
  columns: readonly Column[];
  /** Conditions selected after the columns, by field. */
  conditions: readonly { field: string; condition: string }[];
  /** Builds the row from `cells`, starting at index `from`. */
  row(cells: readonly Cell[], from?: number): Row;
  /** Builds the row by column name. Throws for a value of the wrong kind. */
  named(row: SqlRow): Row;
}

/** Returns the SELECT list for the table under this alias. */
export const selected = ({ columns, conditions }: Load<unknown>, alias: string): string =>
  [
    ...columns.map(({ column }) => `${alias}.${column}`),
    ...conditions.map(({ condition }) => `${alias}.${condition}`),
  ].join(", ");

/** Returns the number of cells in a row of this load. */
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

/** Returns source text that converts a cell to its value in memory (`cell.ts`). */
function readOf(kind: Kind): (cell: string) => string {
  if (kind === "whole") return (cell) => `Number(${cell})`;
  if (kind === "wholeOrNull") return (cell) => `${cell} === null ? null : Number(${cell})`;
  if (kind === "flag") return (cell) => `${cell} === true || ${cell} === 1n`;
  return (cell) => cell;
}

/** `conditions`: fields that are true where a condition on a column holds, `{ checkpointed: "delivered_tokens IS NOT NULL" }`. */
export function load<In extends Table, List extends string, Condition extends string = never>(
  table: In,
  list: List & KnownColumns<In, List>,
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
    row: compiled<(cells: readonly Cell[], from?: number) => Row>(
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

/** The row type of a load. */
export type Loaded<From> = From extends Load<infer Row> ? Row : never;
