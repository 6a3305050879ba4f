// Pages of lists in the format of the APIs.
import { noCursor } from "../reporting/cursors.ts";
import { NEWEST, type Page, pageStart } from "../store/page.ts";

export interface ListAsk {
  cursor?: string | undefined;
  limit?: number | undefined;
}
/** `next_cursor` is null on the last page. */
export interface ListOf<Row> {
  data: Row[];
  next_cursor: string | null;
}

const USUAL = 50;

type Place = NonNullable<ReturnType<typeof pageStart>>;

/**
 * The start and length of the requested page. Throws `Refusal` for a cursor that no page returned. `first`:
 * the start of the first page.
 */
export function startOf({ cursor, limit }: ListAsk, first: Place = NEWEST): { after: Place; limit: number } {
  const after = cursor === undefined ? first : pageStart({ cursor });
  if (after === null) throw noCursor();
  return { after, limit: limit ?? USUAL };
}

export const printPage = <Row, Json>(page: Page<Row>, print: (row: Row) => Json): ListOf<Json> => ({
  data: page.rows.map(print),
  next_cursor: page.nextCursor,
});

/** The page of these rows, whose cursor is the id of its last one. `rows`: one more than the limit if there is a next page. */
export function pageById<Row extends { id: string }>(rows: readonly Row[], limit: number): ListOf<Row> {
  const data = rows.slice(0, limit);
  return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}
