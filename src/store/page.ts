// One page of a list, newest first: the cursor identifies the last row of the previous page.
import type { Sql, SqlRow } from "./sql.ts";

export interface PageAsk {
  /** A cursor from an earlier page; null for the first page. */
  cursor: string | null;
  limit: number;
}

/** Where the first page starts. */
export const NEWEST = { atMs: Number.MAX_SAFE_INTEGER, id: "" };

/** `nextCursor` is null on the last page. */
export interface Page<Row> {
  rows: Row[];
  nextCursor: string | null;
}

/** Returns where a page starts: rows older than this instant, or as old with a smaller id. Null for an invalid cursor. */
export function pageStart({ cursor }: Pick<PageAsk, "cursor">): { atMs: number; id: string } | null {
  if (cursor === null) return NEWEST;
  const [, at = "", id = ""] = /^(\d{1,16})\.([\w-]{1,100})$/.exec(cursor) ?? [];
  return id === "" ? null : { atMs: Number(at), id };
}

/** A table to list: its time column, and the column that distinguishes rows of the same instant. */
interface Listed {
  table: string;
  at: string;
  id: string;
}

/** Rows of one organization (null: of all) from `after` on, newest first: one more than the limit, for `pageOf`. */
export const newestRows = (
  sql: Pick<Sql, "rows">,
  { table, at, id }: Listed,
  {
    organizationId,
    after,
    limit,
  }: { organizationId: string | null; after: { atMs: number; id: string }; limit: number },
): Promise<SqlRow[]> =>
  sql.rows(
    `SELECT * FROM ${table}
     WHERE ${organizationId === null ? "?1 = ''" : "org_id = ?1"} AND (${at} < ?2 OR (${at} = ?2 AND ${id} < ?3))
     ORDER BY ${at} DESC, ${id} DESC LIMIT ?4`,
    organizationId ?? "",
    after.atMs,
    after.id,
    limit + 1,
  );

/** `rows`: up to one more than the limit, which shows that there is a next page. */
export function pageOf<Row>(
  rows: Row[],
  { limit }: Pick<PageAsk, "limit">,
  place: (row: Row) => { atMs: number; id: string },
): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  if (rows.length <= limit || last === undefined) return { rows: shown, nextCursor: null };
  const { atMs, id } = place(last);
  return { rows: shown, nextCursor: `${atMs}.${id}` };
}
