// Walks an organization's requests, or its rows of the request log, where no roll-up knows what is asked: each statement
// reads a few thousand, and between two of them others have their turn at the store's readers
// (docs/decisions/0098-reads-in-pieces.md).
import { type Compilable, sql as fragment } from "kysely";
import { from, rowOf, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";

/** The number of rows that one statement reads: a few milliseconds of the store. */
export const PIECE_ROWS = 2_500;

/** The requests of one organization in the order of their ids: `from` ≤ id < `to`; `from` is the start of an id. */
interface Range {
  organizationId: string;
  from: string;
  to: string;
}

/** One piece: what lies after an id, up to another one. */
interface Bounds {
  organizationId: string;
  after: string;
  last: string;
}

/** Every statement over a piece selects these: the number of its rows, and the last of their ids. */
export const OF_PIECE = [
  fragment<bigint>`CAST(sum(count(*)) OVER () AS BIGINT)`.as("walked"),
  fragment<string | null>`max(max(request_id)) OVER ()`.as("last"),
] as const;

interface Walked {
  walked: bigint;
  last: string | null;
}

export type RequestPiece = ReturnType<typeof pieceOfRequests>;
export type RequestLogPiece = ReturnType<typeof pieceOfLog>;

const within = ({ organizationId, after, last }: Bounds) =>
  fragment<boolean>`org_id = ${organizationId} AND request_id > ${after} AND request_id <= ${last}`;

const pieceOfRequests = (bounds: Bounds) =>
  from
    .selectFrom("request")
    .selectAll()
    .where(within(bounds))
    .orderBy("request_id")
    .limit(PIECE_ROWS)
    .as("request");

const pieceOfLog = (bounds: Bounds) =>
  from
    .selectFrom("journal")
    .selectAll()
    .where(within(bounds))
    .orderBy("request_id")
    .limit(PIECE_ROWS)
    .as("journal");

/**
 * The rows of `sums` over one piece of the requests after another. Each request that was there at the
 * beginning is in one piece, as it is when that is read; none that arrives later is.
 */
export const sumRequests = <Row extends Walked>(
  sql: Sql,
  range: Range,
  sums: (piece: RequestPiece) => Compilable<Row>,
): AsyncGenerator<Row, void> =>
  walk(sql, { table: "request", range, sums: (bounds) => sums(pieceOfRequests(bounds)) });

/** The same over the request log; rows that expire meanwhile may be missing. */
export const sumRequestLog = <Row extends Walked>(
  sql: Sql,
  range: Range,
  sums: (piece: RequestLogPiece) => Compilable<Row>,
): AsyncGenerator<Row, void> =>
  walk(sql, { table: "journal", range, sums: (bounds) => sums(pieceOfLog(bounds)) });

interface Walk<Row> {
  table: "request" | "journal";
  range: Range;
  sums: (bounds: Bounds) => Compilable<Row>;
}

async function* walk<Row extends Walked>(
  sql: Sql,
  { table, range, sums }: Walk<Row>,
): AsyncGenerator<Row, void> {
  const { organizationId } = range;
  const newest = from
    .selectFrom(table)
    .select("request_id")
    .where("org_id", "=", organizationId)
    .where("request_id", ">=", range.from)
    .where("request_id", "<", range.to)
    .orderBy("request_id", "desc")
    .limit(1);
  const last = (await rowOf(sql, newest))?.request_id;
  let after: string | null = last === undefined ? null : range.from;
  while (after !== null && last !== undefined && after !== last) {
    const rows = await rowsOf(sql, sums({ organizationId, after, last }));
    yield* rows;
    // By the store's order, which for a damaged id may not be the one of this language.
    const [piece] = rows;
    after = piece === undefined || piece.walked < PIECE_ROWS ? null : piece.last;
  }
}
