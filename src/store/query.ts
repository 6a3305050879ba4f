// Queries on typed rows, for readers. Kysely only compiles: its text goes through the SQL port to our own connections,
// in the SQL that both stores share (`?1` for parameters). Why: docs/decisions/0035-readers-on-typed-rows.md.
import {
  type Compilable,
  DummyDriver,
  type Expression,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqlBool,
  sql as fragment,
} from "kysely";
import type { ReadonlyKysely } from "kysely/readonly";
import { AROUND_SUMMED } from "./exact-sum.ts";
import { likePatterns, type Sql, type SqlValue } from "./sql.ts";
import type { Tables } from "./tables.ts";

class SharedCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return `?${this.numParameters}`;
  }
}

/** The start of a query; it has no connection, and only selects. */
export const from = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SharedCompiler(),
  },
}) as unknown as ReadonlyKysely<Tables>;

/** Returns all rows of the query. */
export async function rowsOf<Row>(sql: Sql, query: Compilable<Row>): Promise<Row[]> {
  const { sql: text, parameters } = query.compile();
  return (await sql.rows(text, ...(parameters as SqlValue[]))) as Row[];
}

/** Returns the first row, or undefined if there is none. */
export const rowOf = async <Row>(sql: Sql, query: Compilable<Row>): Promise<Row | undefined> =>
  (await rowsOf(sql, query))[0];

/** Returns the row of a query that always has one, such as sums and counts. */
export async function theRow<Row>(sql: Sql, query: Compilable<Row>): Promise<Row> {
  const row = await rowOf(sql, query);
  if (row === undefined) throw new Error("a query of sums has no row");
  return row;
}

const [BEFORE, BETWEEN, AFTER] = AROUND_SUMMED;
/** The exact sum of a column, however large. Read it with `exact` or `exactUsd`. */
export const exactTotal = (column: Expression<bigint | null>): RawBuilder<string | null> =>
  fragment<
    string | null
  >`${fragment.raw(BEFORE)}${column}${fragment.raw(BETWEEN)}${column}${fragment.raw(AFTER)}`;

/** Orders groups by their sums: a real number in SQLite, which rounds beyond 2^53 but never overflows. */
export const magnitude = (column: Expression<bigint>): RawBuilder<number> =>
  fragment<number>`sum(${column} * 1.0)`;

/** All numbers of a column as one text, separated by commas; null without any. Far fewer objects than a row for each. */
export const joinedNumbers = (
  { dialect }: Pick<Sql, "dialect">,
  column: Expression<bigint | null>,
): RawBuilder<string | null> =>
  dialect === "sqlite"
    ? fragment`group_concat(${column}, ',')`
    : fragment`string_agg(CAST(${column} AS TEXT), ',')`;

/** What a filter adds to a query: nothing if it was not set. */
export const when = <Value, Made>(value: Value | undefined, make: (value: Value) => Made): Made[] =>
  value === undefined ? [] : [make(value)];

/** A boolean in either store's form. */
export const isSet = (flag: bigint | boolean): boolean => flag === true || flag === 1n;
/** A count or a time; rounded beyond 2^53. */
export const numberOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value));

/** Whether the column contains this text, ignoring case (`likePatterns`). */
export const isPart = (column: Expression<string | null>, text: string): Expression<SqlBool> =>
  fragment<SqlBool>`(${fragment.join(
    likePatterns(text).map((pattern) => fragment`lower(${column}) LIKE ${pattern} ESCAPE '!'`),
    fragment` OR `,
  )})`;
