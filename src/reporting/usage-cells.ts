// Usage in cells of one bucket each: from the hourly roll-ups that settlement writes in its own transaction,
// so that every sum is the ledger's.
import { HOUR_MS } from "../domain/durations.ts";
import type * as usageShapes from "../api/shapes/usage.ts";
import type { z } from "zod";
import { sql as fragment } from "kysely";
import { exact } from "../store/exact-sum.ts";
import { exactTotal, from, magnitude, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { WRITTEN_TOKENS } from "../store/written-tokens.ts";
import { hoursUsed, tokensUsed } from "./hours-used.ts";
import { OF_PIECE, type RequestPiece, sumRequests } from "./request-pieces.ts";
import { idsAround } from "./request-time.ts";
import { bucketOf } from "./usage-buckets.ts";

export type Group = NonNullable<z.output<typeof usageShapes.usage>["group_by"]>;

/** Sums of one cell: tokens, and `charge` in nano-USD. Cached and written ones are included in `input`. */
export interface Sums {
  requests: number;
  input: bigint;
  cached: bigint;
  /** Written to a cache. */
  written: bigint;
  output: bigint;
  charge: bigint;
}

/** What one key spent on one model within one bucket; "" and null in fields that cells are not grouped by. */
export interface UsageCell extends Sums {
  key: string;
  model: string;
  /** The release that served. */
  digest: string | null;
  bucket: number;
}

interface Asked {
  organizationId: string;
  query: z.output<typeof usageShapes.usageQuery>;
  fromMs: number;
  toMs: number;
  bucketMs: number;
}

/** The roll-ups do not record who served: for provider or region, the requests themselves are summed. */
export const usageCells = (sql: Sql, asked: Asked): Promise<UsageCell[]> =>
  [asked.query.group_by, asked.query.then_by].some((group) => group === "provider" || group === "region")
    ? fromRequests(sql, asked)
    : fromRollUps(sql, asked);

/** The column that each group is derived from. */
const TOLD_BY = {
  key: "key_id",
  member: "key_id",
  scope: "key_id",
  model: "model",
  provider: "release_digest",
  region: "release_digest",
} as const satisfies Record<Group, string>;

/**
 * The columns that the groups need: with ten thousand keys the store sums over them if nobody asks for keys.
 */
function apart<Column extends string>(query: Asked["query"], columns: readonly Column[]): Column[] {
  const needed = new Set<string>(
    [query.group_by, query.then_by].flatMap((group) => (group ? TOLD_BY[group] : [])),
  );
  return columns.filter((column) => needed.has(column));
}

type RolledUp = ReturnType<typeof hoursUsed>;

/** The requested hours, of these keys or of all that match the filter. */
function hoursAsked(sql: Sql, { organizationId, query, fromMs, toMs }: Asked, keys?: string[]): RolledUp {
  const left = keys ?? (query.key === undefined ? undefined : [query.key]);
  const span = { first: fromMs / HOUR_MS, behind: toMs / HOUR_MS };
  return hoursUsed(sql, organizationId, { ...span, keys: left, model: query.model });
}

/** Summed by bucket and these columns; null in place of the other columns. */
function cellsBy(hours: RolledUp, { fromMs, bucketMs }: Asked, told: readonly ("key_id" | "model")[]) {
  const bucket = bucketOf("hour", fromMs / HOUR_MS, bucketMs / HOUR_MS);
  const place = (column: "key_id" | "model") =>
    told.includes(column)
      ? fragment<string | null>`${fragment.ref(column)}`
      : fragment<string | null>`CAST(NULL AS TEXT)`;
  return hours
    .groupBy([...told, bucket])
    .select((eb) => [
      place("key_id").as("key_id"),
      place("model").as("model"),
      bucket.as("bucket"),
      exactTotal(eb.ref("requests")).as("counted"),
      ...tokensUsed(eb),
      exactTotal(eb.ref("charge")).as("spent"),
    ]);
}

const rolledUp = (row: Omit<CellRow, "counted"> & { counted: string | null }): UsageCell =>
  cellOf({ ...row, counted: exact(row.counted) });

async function fromRollUps(sql: Sql, asked: Asked): Promise<UsageCell[]> {
  const query = cellsBy(hoursAsked(sql, asked), asked, apart(asked.query, ["key_id", "model"]));
  return (await rowsOf(sql, query)).map(rolledUp);
}

export interface DearestCells {
  /** The cells of only the most expensive groups. */
  shown: UsageCell[];
  /** All groups combined, by bucket; from the same moment. */
  all: UsageCell[];
  /** The number of groups. */
  groups: number;
}

/**
 * For groupings by key id and model only: the cells of the most expensive groups, and one sum of all groups.
 * An organization may have ten thousand keys: only what the page names is read, the rest is summed in the
 * store. Null for any other grouping.
 */
export async function dearestCells(sql: Sql, asked: Asked, most: number): Promise<DearestCells | null> {
  const groups = [asked.query.group_by, asked.query.then_by].filter((group) => group !== undefined);
  if (!groups.includes("key") || groups.some((group) => group !== "key" && group !== "model")) return null;
  const told = apart(asked.query, ["key_id", "model"]);
  const ranked = await rowsOf(
    sql,
    hoursAsked(sql, asked)
      .groupBy(told)
      .select(told)
      .select(fragment<bigint>`count(*) OVER ()`.as("groups"))
      .orderBy((eb) => magnitude(eb.ref("charge")), "desc")
      .orderBy("key_id")
      .$if(told.includes("model"), (query) => query.orderBy("model"))
      .limit(most),
  );
  const [first] = ranked;
  if (first === undefined) return { shown: [], all: [], groups: 0 };
  const named = new Set(ranked.map(nameOf));
  const keys = [...new Set(ranked.map(({ key_id }) => key_id))];
  // One statement: the others' usage is the difference of the two.
  const both = cellsBy(hoursAsked(sql, asked), asked, []).unionAll(
    cellsBy(hoursAsked(sql, asked, keys), asked, told),
  );
  const rows = await rowsOf(sql, both);
  return {
    shown: rows.filter((row) => row.key_id !== null && named.has(nameOf(row))).map(rolledUp),
    all: rows.filter((row) => row.key_id === null).map(rolledUp),
    groups: Number(first.groups),
  };
}

const nameOf = ({ key_id: key, model }: Pick<CellRow, "key_id" | "model">): string =>
  JSON.stringify([key, model ?? null]);

/** Cells that continue in another piece occur once for each; null buckets sum what was not asked for. */
async function fromRequests(sql: Sql, asked: Asked): Promise<UsageCell[]> {
  const { organizationId } = asked;
  const cells: UsageCell[] = [];
  const pieces = sumRequests(sql, { organizationId, ...idsAround(asked) }, (piece) =>
    cellsOf(sql, asked, piece),
  );
  for await (const row of pieces) if (row.bucket !== null) cells.push(cellOf({ ...row, bucket: row.bucket }));
  return cells;
}

function cellsOf(sql: Sql, asked: Asked, piece: RequestPiece) {
  const told = apart(asked.query, ["key_id", "model", "release_digest"]);
  const used = from
    .selectFrom(piece)
    .selectAll()
    .select((eb) =>
      fragment<bigint | null>`CASE WHEN ${eb.and([
        eb("admitted_at", ">=", BigInt(asked.fromMs)),
        eb("admitted_at", "<", BigInt(asked.toMs)),
        ...when(asked.query.key, (key) => eb("key_id", "=", key)),
        ...when(asked.query.model, (model) => eb("model", "=", model)),
        eb("state", "=", "settled"),
      ])} THEN ${bucketOf("admitted_at", asked.fromMs, asked.bucketMs)} END`.as("bucket"),
    )
    .as("request");
  return from
    .selectFrom(used)
    .groupBy([...told, "bucket"])
    .select(told)
    .select(OF_PIECE)
    .select((eb) => [
      "bucket",
      eb.fn.countAll<bigint>().as("counted"),
      exactTotal(eb.ref("prompt_tokens")).as("input"),
      exactTotal(eb.ref("cached_tokens")).as("cached"),
      exactTotal(fragment<bigint>`${fragment.raw(WRITTEN_TOKENS[sql.dialect])}`).as("written"),
      exactTotal(eb.ref("completion_tokens")).as("output"),
      exactTotal(eb.ref("charge")).as("spent"),
    ]);
}

interface CellRow {
  bucket: bigint;
  key_id?: string | null;
  model?: string | null;
  release_digest?: string | null;
  counted: bigint;
  input: string | null;
  cached: string | null;
  written: string | null;
  output: string | null;
  spent: string | null;
}

const cellOf = (row: CellRow): UsageCell => ({
  key: row.key_id ?? "",
  model: row.model ?? "",
  digest: row.release_digest ?? null,
  bucket: Number(row.bucket),
  requests: Number(row.counted),
  input: exact(row.input),
  cached: exact(row.cached),
  written: exact(row.written),
  output: exact(row.output),
  charge: exact(row.spent),
});
